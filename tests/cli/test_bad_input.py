"""Whatever a user gets wrong is told in one sentence on stderr, with exit code 2 and nothing on stdout; 3 where
limits leave no decision."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wisefl import Fleet
from wisefl.cli import main
from wisefl.cli.errors import name_options

HEADER = "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0,count_1"
ROW_A = "a,200,20,2e9,5,1000,1000"
ROW_B = "b,210,25,3e9,4,900,1100"


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 2) -> str:
    """Run a command that must fail and return its one sentence; figures in another unit may have been told before."""
    assert main([str(argument) for argument in arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    [sentence] = [line for line in said.err.splitlines() if not line.startswith("wisefl: warning: ")]
    assert sentence.startswith("wisefl: error: ")
    assert said.err.endswith(f"{sentence}\n")
    return sentence.removeprefix("wisefl: error: ")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text("\n".join([HEADER, ROW_A, ROW_B]) + "\n")
    return path


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "the file is empty"),
        ([HEADER], "there is a header but no client"),
        ([HEADER.replace("cycles_per_bit,", ""), ROW_A], "column 'cycles_per_bit' is missing"),
        ([HEADER, ROW_A, "b,-210,25,3e9,4,900,1100"], "row 2, column 'distance_m': -210 must be greater than 0"),
        ([HEADER, ROW_A, "b,nan,25,3e9,4,900,1100"], "row 2, column 'distance_m': nan is not a finite number"),
        ([HEADER, ROW_A, ROW_A], "row 2, column 'client': id 'a' is already in row 1"),
        ([HEADER, ROW_A, "b,210,25,3e9,4,0,0"], "row 2, columns 'count_*': client 'b' holds no sample"),
        ([HEADER, ROW_A, "b,210,25,fast,4,9,9"], "row 2, column 'max_frequency_hz': 'fast' is not a number"),
        ([HEADER, ROW_A, "b,210,25"], "row 2 has 3 cells, the header has 7"),
        ([HEADER, ROW_A, "b,1e200,25,3e9,4,900,1100"], "row 2: uploading costs client 'b'"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "pareto"])
def test_a_bad_fleet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, lines: list[str], says: str
) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert says in complaint(capsys, command, path)


def test_a_missing_file_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "plan", tmp_path / "no.csv") == f"{tmp_path / 'no.csv'}: no such file"
    assert "is a folder" in complaint(capsys, "plan", tmp_path)


def test_more_samples_than_the_fleet_holds(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    says = complaint(capsys, "plan", small, "--min-samples", 4001, code=3)
    assert says == (
        "the whole fleet holds 4000 samples, fewer than --min-samples 4001: lower --min-samples to at most 4000"
    )
    assert main(["plan", str(small), "--min-samples", "4000", "--json"]) == 0


def test_a_divergence_limit_that_nobody_meets_says_which_limit_would_do(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    says = complaint(capsys, "plan", small, "--max-divergence", 1e-9, code=3)
    assert says.startswith("no client has a divergence of at most --max-divergence 1e-09")
    advice = re.search(r"raise --max-divergence to at least (\S+)$", says)
    assert advice is not None
    assert main(["plan", str(small), "--max-divergence", advice[1], "--json"]) == 0


def test_when_every_client_lacks_a_class_the_way_out_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text(f"{HEADER}\na,200,20,2e9,5,2000,0\nb,200,20,2e9,5,0,2000\n")
    says = complaint(capsys, "plan", path, code=3)
    assert "set --max-divergence to inf or give --smoothing a value above 0" in says
    assert main(["plan", str(path), "--max-divergence", "inf", "--json"]) == 0


@pytest.mark.parametrize("seed", range(8))
def test_following_the_advice_works(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    path = tmp_path / "fleet.csv"
    Fleet.random(clients=40, seed=seed).to_csv(path)
    says = complaint(capsys, "plan", path, "--min-samples", 5000, code=3)
    fewer = re.search(r"lower --min-samples to at most (\d+)", says)
    assert fewer is not None
    assert main(["plan", str(path), "--min-samples", fewer[1], "--json"]) == 0
    wider = re.search(r"raise --max-divergence to at least (\S+)$", says)
    assert wider is not None
    assert main(["plan", str(path), "--min-samples", "5000", "--max-divergence", wider[1], "--json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--epochs 0", "--epochs must be a whole number of at least 1, not 0"),
        ("--bandwidth-hz 0", "--bandwidth-hz must be greater than 0, not 0"),
        ("--bandwidth-hz nan", "--bandwidth-hz must be a finite number, not nan"),
        ("--latency-weight -1", "--latency-weight must be greater than 0, not -1"),
        ("--smoothing -1", "--smoothing must be at least 0, not -1"),
        ("--latency-weight 1e308 --energy-weight 1e308", "no set of clients has a cost that floating-point numbers"),
        ("--max-gap 1", "--max-gap must be at least 0 and below 1, not 1"),
        ("--time-limit 0", "--time-limit must be greater than 0 seconds, not 0"),
        ("--seed -2 --solver random-k+equal", "--seed must be at least 0, not -2"),
        ("--min-samples some", "Invalid value for '--min-samples': 'some' is not a valid integer"),
        ("--bandwith-hz 3", "No such option"),
        ("--solver magic", "'magic'"),
        ("--compare certified,magic", "'magic'"),
        ("--compare ,", "--compare must name at least one method"),
        ("--compare certified --out decision.csv", "--out writes one decision"),
        ("--solver dc --time-limit 3", "--time-limit works with certified and scip, not with dc"),
        ("--reading printed", "--reading works with dc and cs-random and cs-greedy, not with certified"),
        ("--reading backwards --solver dc", "'backwards' is not one of 'printed', 'repaired', 'strong'"),
        ("--out no/such/folder/decision.csv", "cannot be written (there is no folder"),
    ],
)
def test_a_bad_option(small: Path, capsys: pytest.CaptureFixture[str], arguments: str, says: str) -> None:
    assert says in complaint(capsys, "plan", small, *arguments.split())


def test_an_unknown_command_and_a_missing_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "fly").startswith("there is no command 'fly'; there are fleet, plan, pareto")
    assert "Missing argument 'FLEET'" in complaint(capsys, "plan")
    assert "No such option" in complaint(capsys, "--fast")


def test_only_field_names_are_turned_into_options() -> None:
    spelling = {"min_samples": "--min-samples", "seed": "--seed", "out": "--out"}
    assert name_options("fewer than min_samples = 3", spelling) == "fewer than --min-samples 3"
    assert name_options("/data/min_samples.csv: no such file", spelling) == "/data/min_samples.csv: no such file"
    assert name_options("column 'min_samples' is missing", spelling) == "column 'min_samples' is missing"
    assert name_options("seed must be at least 0", spelling) == "--seed must be at least 0"
    assert name_options("no seed comes out of it", spelling) == "no seed comes out of it"


def test_a_million_rows_with_one_bad_cell_take_seconds_and_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "million.csv"
    rows = 1_000_000
    with open(path, "w") as file:
        file.write(f"{HEADER}\n")
        file.writelines(f"{row},200.5,20.25,2e9,5.5,600,400\n" for row in range(1, rows - 1))
        file.write(f"{rows - 1},200.5,2o,2e9,5.5,600,400\n{rows},200.5,20,2e9,5.5,600,400\n")
    # What a child of this process needed at most would count this process too, from which it was forked.
    script = (
        "import sys; from wisefl.cli import main; code = main(sys.argv[1:])\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
        "sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, "plan", str(path)], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    assert done.returncode == 2
    assert done.stderr == (
        f"wisefl: error: {path}: row {rows - 1}, column 'transmit_power_dbm': '2o' is not a number\n"
    )
    assert seconds < 30.0
    assert int(done.stdout) < 1_000_000, "more than 1 GB (in KiB)"


def test_ctrl_c_ends_quietly_with_130(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    subprocess.run(["mkfifo", str(path)], check=True)
    # Reading a pipe that nobody writes waits for ever: the command is surely at work when the signal comes.
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from wisefl.cli import main; print('ready', flush=True); sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "plan", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "wisefl: interrupted\n"


def test_a_pipe_gets_no_escape_codes(small: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wisefl.cli", "plan", str(small)], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_full_disk_is_one_sentence(small: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wisefl.cli", "plan", str(small)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("wisefl: error: output: No space left on device")
