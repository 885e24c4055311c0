"""What the benchmarks against fio have in common: files, runs of either tool, and what is taken from their output."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FATHOM = os.environ.get("FATHOM", os.path.join(HERE, "..", "target", "release", "fathom"))
PERCENTILES = ["50", "90", "95", "99"]

PLAN = """
name = "beside-fio"
[[phase]]
name = "random read"
pattern = "random"
size = "4KiB"
"""


def need_fio():
    """fio's version, or the end."""
    try:
        return subprocess.run(["fio", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        sys.exit("fio is not installed: apt-get install fio")


def write_plan(folder):
    path = os.path.join(folder, "plan.toml")
    with open(path, "w") as file:
        file.write(PLAN)
    return path


def lay_out(path, mebibytes):
    """A file of random data; a small one is in the page cache afterwards."""
    with open(path, "wb") as file:
        for _ in range(mebibytes):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
    with open(path, "rb") as file:
        while mebibytes <= 64 and file.read(1 << 20):
            pass


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nexit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def fio(options, seconds, warmup, cpu):
    """Random reads of 4 KiB. One latency per request, from its issue to its end, as in Fathom's closed loop."""
    common = ["--name=bench", "--rw=randread", "--bs=4k", "--thread", "--time_based", "--output-format=json"]
    # Without a map of blocks, and with the one latency that Fathom keeps as well: fio's `lat`. Its `clat` begins when
    # the call that hands the request over has returned, which at depth 1 leaves out a fifth of the time.
    common += ["--norandommap", "--randrepeat=0", "--disable_slat=1", "--disable_clat=1", "--lat_percentiles=1"]
    common += [f"--percentile_list={':'.join(PERCENTILES)}", f"--runtime={seconds}", f"--ramp_time={warmup}"]
    pinned = [] if cpu is None else [f"--cpus_allowed={cpu}"]
    job = run(["fio", *common, *options, *pinned])["jobs"][0]
    ran = job["job_runtime"] / 1000
    cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * ran
    read = job["read"]
    percentiles = {p: read["lat_ns"]["percentile"][f"{float(p):.6f}"] for p in PERCENTILES}
    return {"iops": read["iops"], "per_cpu": read["total_ios"] / cpu_s, "mean": read["lat_ns"]["mean"], **percentiles}


def fathom(plan, on, settings, seconds, warmup, cpu):
    keys = [*settings, f"run={seconds}s", f"warmup={warmup}s"] + ([] if cpu is None else [f"cpus={cpu}"])
    sets = [part for key in keys for part in ("--set", key)]
    record = run([FATHOM, "run", plan, "--on", on, "--no-save", "--quiet", "--format", "json", *sets])
    workload = record["points"][0]["workloads"][0]
    used = workload["workers"][0]["cpu"]
    total = workload["summary"][0]
    latency = total["response"]
    return {
        "iops": total["ops_per_s"]["value"],
        "per_cpu": sum(op["ops"] for op in workload["totals"]) / (used["user_s"] + used["system_s"]),
        "mean": latency["mean_ns"],
        **{p: percentile(latency, p) for p in PERCENTILES},
    }


def percentile(latency, wanted):
    for entry in latency["quantiles"]:
        if abs(entry["q"] - float(wanted) / 100) < 1e-9:
            return entry["value_ns"]
    sys.exit(f"Fathom's record has no p{wanted}")
