"""The tables of Benchmarks/run: medians of each load's times and switches, and of the ratios within a round."""
import csv
import statistics
import sys

TARGETS = {
    "seq-read": 1.05, "rand-read": 1.05, "mmap-read": 1.05, "seq-write": 1.1, "rand-write": 1.3, "stat": 1.2,
    "find": 1.2, "create": 4, "untar": 3, "rename-unlink": 2.5, "rm-rf": 3, "git": 1.6, "sqlite": 1.5,
    "sqlite-wal": 1.5,
}


def figures(path, column):
    """By load and system, what each round gave."""
    found = {}
    for row in csv.DictReader(open(path)):
        if row["seconds"]:
            rounds = found.setdefault(row["load"], {}).setdefault(row["system"], {})
            rounds[row["round"]] = float(row[column])
    return found


def median(values, scale, decimals, width):
    return f"{statistics.median(values) * scale:>{width}.{decimals}f}" if values else f"{'-':>{width}}"


def print_ratios(path, systems):
    cpu = figures(path, "cpu")
    others = [system for system in systems if system != "native"]
    print(f"{'load':<14}{'native ms':>10}" + "".join(f"{name:>9}" for name in others) + f"{'target':>8}{'daemon ms':>11}")
    for load, found in figures(path, "seconds").items():
        native = found.get("native", {})
        line = f"{load:<14}" + median(native.values(), 1000, 1, 10)
        for name in others:
            line += median([time / native[turn] for turn, time in found.get(name, {}).items() if turn in native], 1, 2, 9)
        print(line + f"{TARGETS.get(load, 0):>8}" + median(cpu[load].get("replica", {}).values(), 1000, 0, 11))


def print_switches(path, systems):
    print(f"{'load':<14}" + "".join(f"{name:>10}" for name in systems))
    for load, found in figures(path, "switches").items():
        print(f"{load:<14}" + "".join(median(found.get(name, {}).values(), 0.001, 1, 10) for name in systems))


print_ratios(sys.argv[1], sys.argv[2:])
print("\ncontext switches of the whole machine, in thousands (median; what a load prepares is in it)")
print_switches(sys.argv[1], sys.argv[2:])
