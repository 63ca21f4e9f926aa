"""The table of Benchmarks/replication: medians of the seconds, and of the ratios to rclone (or cp) within a round."""
import csv
import statistics
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
systems = list(dict.fromkeys(row["system"] for row in rows))
times = {(row["round"], row["system"]): float(row["seconds"]) for row in rows}
for row in rows:
    if row["confirmed"]:
        times[row["round"], "replica, confirmed"] = float(row["confirmed"])
other = "rclone" if "rclone" in systems else "cp"
names = sorted({name for _, name in times}, key=lambda name: (name.startswith("replica"), name))
print(f"{'system':<20}{'seconds':>9}{'/ ' + other:>10}{'us a file':>11}")
for name in names:
    rounds = [round for round, system in times if system == name]
    ratio = statistics.median(times[round, name] / times[round, other] for round in rounds if (round, other) in times)
    cpu = [float(row["cpu"]) for row in rows if row["system"] == name and row["cpu"]]
    print(f"{name:<20}{statistics.median(times[round, name] for round in rounds):>9.2f}{ratio:>10.2f}"
          + (f"{statistics.median(cpu):>11.0f}" if cpu else ""))
