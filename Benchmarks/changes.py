"""Says what moved by more than 15 % against `bare` (replication: against rclone) in the same run, since the last runs of the history.

  changes.py [--keep] HISTORY TRANSPORT COMMIT RESULTS [REPLICATION]

HISTORY is a CSV of ratios; --keep adds this run's to it. A ratio is compared with the median of the last five of its load, filesystem and transport.
"""
import csv
import datetime
import os
import statistics
import sys

KEEP = "--keep" in sys.argv
words = [word for word in sys.argv[1:] if word != "--keep"]
history_path, transport, commit, results = words[:4]
transport = transport or "device"
COLUMNS = ["date", "commit", "transport", "load", "system", "ratio", "rounds", "load1"]
MOST = 0.15


def ratios(path, other, load_of):
    """By load and system: the median of the ratios within a round, how many there were, and the machine's load."""
    times, loads = {}, {}
    for row in csv.DictReader(open(path)):
        if row["seconds"]:
            times[load_of(row), row["system"], row["round"]] = float(row["seconds"])
            loads.setdefault(load_of(row), []).append(float(row["load1"].split()[0]))
    found = {}
    for (load, system, turn), seconds in times.items():
        if system in ("replica", "user") and (load, other, turn) in times:
            found.setdefault((load, system), []).append(seconds / times[load, other, turn])
    return {key: (statistics.median(all), len(all), statistics.median(loads[key[0]])) for key, all in found.items()}


now = ratios(results, "bare", lambda row: row["load"])
if len(words) > 4:
    now |= ratios(words[4], "rclone", lambda row: "replication")
before = {}
if os.path.exists(history_path):
    for row in csv.DictReader(open(history_path)):
        if row["transport"] == transport:
            before.setdefault((row["load"], row["system"]), []).append(float(row["ratio"]))
moved = 0
for (load, system), (ratio, rounds, load1) in now.items():
    known = before.get((load, system), [])[-5:]
    if not known:
        continue
    usual = statistics.median(known)
    if abs(ratio / usual - 1) > MOST:
        moved += 1
        print(f"MOVED {load}, {system}: {ratio:.2f}, was {usual:.2f} ({ratio / usual - 1:+.0%}); {rounds} rounds, load {load1:.1f}")
compared = sum(key in before for key in now)
print(f"{moved} of {compared} ratios moved by more than {MOST:.0%} ({transport}); {len(now) - compared} have no history")
if KEEP and now:
    isNew = not os.path.exists(history_path)
    with open(history_path, "a", newline="") as file:
        writer = csv.writer(file)
        if isNew:
            writer.writerow(COLUMNS)
        for (load, system), (ratio, rounds, load1) in now.items():
            writer.writerow([datetime.date.today(), commit, transport, load, system, f"{ratio:.3f}", rounds, f"{load1:.1f}"])
