"""The table of Benchmarks/run: medians of each load's times, and of the ratios within a round."""
import csv
import statistics
import sys

TARGETS = {
    "seq-read": 1.05, "rand-read": 1.05, "mmap-read": 1.05, "seq-write": 1.1, "rand-write": 1.3, "stat": 1.2,
    "find": 1.2, "create": 4, "untar": 3, "rename-unlink": 2.5, "rm-rf": 3, "git": 1.6, "sqlite": 1.5,
    "sqlite-wal": 1.5,
}


def main(path, systems):
    times, cpu = {}, {}
    for row in csv.DictReader(open(path)):
        if row["seconds"]:
            times.setdefault(row["load"], {}).setdefault(row["system"], {})[row["round"]] = float(row["seconds"])
            cpu.setdefault(row["load"], []).append(float(row["cpu"])) if row["system"] == "replica" else None
    others = [system for system in systems if system != "native"]
    print(f"{'load':<14}{'native ms':>10}" + "".join(f"{name:>9}" for name in others) + f"{'target':>8}{'daemon ms':>11}")
    for load, found in times.items():
        native = found.get("native", {})
        line = f"{load:<14}" + (f"{statistics.median(native.values()) * 1000:>10.1f}" if native else f"{'-':>10}")
        for name in others:
            ratios = [seconds / native[turn] for turn, seconds in found.get(name, {}).items() if turn in native]
            line += f"{statistics.median(ratios):>9.2f}" if ratios else f"{'-':>9}"
        line += f"{TARGETS.get(load, 0):>8}"
        line += f"{statistics.median(cpu[load]) * 1000:>11.0f}" if cpu.get(load) else ""
        print(line)


main(sys.argv[1], sys.argv[2:])
