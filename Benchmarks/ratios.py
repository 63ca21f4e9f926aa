"""The table of Benchmarks/user: time relative to native, median over the rounds and, in brackets, the span of their middle half."""
import csv
import statistics
import sys

times = {}
for row in csv.DictReader(open(sys.argv[1])):
    times[row["load"], row["round"], row["system"]] = float(row["seconds"])
loads = list(dict.fromkeys(load for load, _, _ in times))
print(f"{'load':18} {'with':>22} {'without':>22} {'with/without':>13}")
for load in loads:
    rounds = [r for l, r, s in times if l == load and s == "native"]
    cells = []
    for system in ("with", "without"):
        ratios = sorted(times[load, r, system] / times[load, r, "native"] for r in rounds)
        quarter = len(ratios) // 4
        cells.append(f"{statistics.median(ratios):8.2f} ({ratios[quarter]:.2f}-{ratios[-1 - quarter]:.2f})")
    between = statistics.median(times[load, r, "with"] / times[load, r, "without"] for r in rounds)
    print(f"{load:18} {cells[0]:>22} {cells[1]:>22} {between:13.2f}")
