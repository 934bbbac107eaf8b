"""A fleet survives a trip through CSV, random ones follow the paper's table, and no bad file gets in."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisefl import Fleet, InvalidInput
from wisefl.divergence import client_divergence

HEADER = "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0,count_1"
ARRAYS = (
    "client",
    "distance_m",
    "transmit_power_dbm",
    "max_frequency_hz",
    "cycles_per_bit",
    "label_counts",
    "channel_gain",
)


def same(first: Fleet, second: Fleet) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ARRAYS)


def read(folder: Path, *lines: str) -> Fleet:
    path = folder / "fleet.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Fleet.from_csv(path)


def test_a_random_fleet_comes_back_from_csv_exactly(tmp_path: Path) -> None:
    fleet = Fleet.random(clients=200, seed=5)
    fleet.to_csv(tmp_path / "fleet.csv")
    assert same(Fleet.from_csv(tmp_path / "fleet.csv"), fleet)


positive = st.floats(min_value=1e-300, max_value=1e300)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            positive,
            st.floats(min_value=-200, max_value=200),
            positive,
            positive,
            st.integers(1, 2**50),
            st.integers(0, 2**50),
            positive,
        ),
        min_size=1,
        max_size=6,
    ),
    name=st.sampled_from(["a", 'say "hi"', "comma, inside", "naïve-7", "#1"]),
)
def test_any_numbers_and_ids_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, ...]], name: str
) -> None:
    columns = list(zip(*rows, strict=True))
    fleet = Fleet(
        client=np.array([f"{name} {row}" for row in range(len(rows))]),
        distance_m=np.array(columns[0]),
        transmit_power_dbm=np.array(columns[1]),
        max_frequency_hz=np.array(columns[2]),
        cycles_per_bit=np.array(columns[3]),
        label_counts=np.array([columns[4], columns[5]], dtype=np.int64).T,
        channel_gain=np.array(columns[6]),
    )
    path = tmp_path_factory.mktemp("fleet") / "fleet.csv"
    fleet.to_csv(path)
    assert same(Fleet.from_csv(path), fleet)


def test_without_a_gain_column_the_gain_is_one(tmp_path: Path) -> None:
    fleet = read(tmp_path, HEADER, "a,200,20,2e9,5,10,20", "b,250,33,5e9,1,0,7")
    assert fleet.channel_gain.tolist() == [1.0, 1.0]
    assert fleet.samples.tolist() == [30, 7]


def test_order_of_columns_spaces_blank_lines_and_columns_of_the_users_own_do_not_matter(tmp_path: Path) -> None:
    fleet = read(
        tmp_path,
        "count_1, count_0 ,owner,count_total,client,cycles_per_bit,max_frequency_hz,transmit_power_dbm,distance_m",
        "20,10,Ann,many, a ,5,2e9,20, 200 ",
        "",
        "7,0,Bob,few,b,1,5e9,33,250",
    )
    assert same(fleet, read(tmp_path, HEADER, "a,200,20,2e9,5,10,20", "b,250,33,5e9,1,0,7"))


def test_a_file_from_a_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    path.write_bytes(b"\xef\xbb\xbf" + f'{HEADER}\r\n"a",200,20,2e9,5,10,20\r\n'.encode())
    assert Fleet.from_csv(path).client.tolist() == ["a"]


GOOD = "a,200,20,2e9,5,10,20"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "the file is empty"),
        (["", "  "], "the file is empty"),
        ([HEADER], "there is a header but no client"),
        ([HEADER.replace("distance_m,", ""), GOOD], "column 'distance_m' is missing"),
        ([HEADER.replace("client,", ""), GOOD], "column 'client' is missing"),
        ([HEADER.replace(",count_0,count_1", ""), GOOD], "column 'count_0' is missing"),
        ([HEADER.replace("count_1", "count_2"), GOOD], "column 'count_1' is missing"),
        ([HEADER + ",count_1", GOOD + ",3"], "column 'count_1' appears twice"),
        ([HEADER, GOOD, "b,-5,20,2e9,5,10,20"], "row 2, column 'distance_m': -5 must be greater than 0"),
        ([HEADER, GOOD, "b,200,20,0,5,10,20"], "row 2, column 'max_frequency_hz': 0 must be greater than 0"),
        ([HEADER, GOOD, "b,200,20,2e9,-1,10,20"], "row 2, column 'cycles_per_bit': -1 must be greater than 0"),
        ([HEADER + ",channel_gain", GOOD + ",0"], "row 1, column 'channel_gain': 0 must be greater than 0"),
        ([HEADER, "a,NaN,20,2e9,5,10,20"], "row 1, column 'distance_m': nan is not a finite number"),
        ([HEADER, GOOD, "b,200,inf,2e9,5,10,20"], "row 2, column 'transmit_power_dbm': inf is not a finite number"),
        ([HEADER, GOOD, "b,200,20,2e9,5,nan,20"], "row 2, column 'count_0': nan is not a whole number"),
        ([HEADER, GOOD, "b,200,20,2e9,5,1.5,20"], "row 2, column 'count_0': 1.5 is not a whole number"),
        ([HEADER, GOOD, "b,200,20,2e9,5,1e300,20"], "row 2, column 'count_0': 1e+300 is not a whole number"),
        ([HEADER, GOOD, "b,200,20,2e9,5,10,-3"], "row 2, column 'count_1': -3 must be at least 0"),
        ([HEADER, GOOD, "b,200,20,2e9,5,0,0"], "row 2, columns 'count_*': client 'b' holds no sample"),
        ([HEADER, GOOD, "b,far,20,2e9,5,10,20"], "row 2, column 'distance_m': 'far' is not a number"),
        ([HEADER, GOOD, "b,,20,2e9,5,10,20"], "row 2, column 'distance_m': '' is not a number"),
        ([HEADER, GOOD, "b,1_0,20,2e9,5,10,20"], "row 2, column 'distance_m': '1_0' is not a number"),
        ([HEADER, GOOD, "b,200,20,2e9,5,10"], "row 2 has 6 cells, the header has 7"),
        ([HEADER, GOOD, "b,200,20,2e9,5,10,20,30"], "row 2 has 8 cells, the header has 7"),
        ([HEADER, GOOD, "b,200,20,2e9,5,1,1", GOOD], "row 3, column 'client': id 'a' is already in row 1"),
        ([HEADER, GOOD, ",200,20,2e9,5,10,20"], "row 2, column 'client': the id is empty"),
        ([HEADER, '"a\nb",200,20,2e9,5,10,20'], "row 1, column 'client'"),
    ],
)
def test_a_mistake_is_told_with_its_row_and_column(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, *lines)
    assert says in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "fleet.csv"))


def test_a_mistake_far_down_is_told_with_its_own_row(tmp_path: Path) -> None:
    rows = [f"{row},200,20,2e9,5,10,20" for row in range(1, 120_001)]
    rows[110_006] = "110007,near,20,2e9,5,10,20"
    with pytest.raises(InvalidInput, match=r"row 110007, column 'distance_m': 'near' is not a number"):
        read(tmp_path, HEADER, *rows)


def test_what_is_not_a_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InvalidInput, match="not a CSV text file"):
        Fleet.from_csv(tmp_path / "picture.csv")
    with pytest.raises(InvalidInput, match="no such file"):
        Fleet.from_csv(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        Fleet.from_csv(tmp_path)


def test_random_fleets_follow_the_papers_table() -> None:
    fleet = Fleet.random(clients=80, seed=0)
    assert len(fleet) == 80
    assert fleet.samples.sum() == 60_000
    assert fleet.label_counts.sum(axis=0).tolist() == [6000] * 10
    for name, low, high in (
        ("distance_m", 200, 250),
        ("transmit_power_dbm", 20, 33),
        ("max_frequency_hz", 2e9, 5e9),
        ("cycles_per_bit", 1, 10),
    ):
        values = getattr(fleet, name)
        assert low <= values.min() < low + 0.2 * (high - low)
        assert high - 0.2 * (high - low) < values.max() <= high
    assert np.count_nonzero(client_divergence(fleet.label_counts) <= 0.2) >= 8


def test_the_same_seed_gives_the_same_fleet_and_another_seed_another() -> None:
    assert same(Fleet.random(seed=4), Fleet.random(seed=4))
    assert not same(Fleet.random(seed=4), Fleet.random(seed=5))


def test_mhz_clocks_and_gains_scale() -> None:
    ghz, mhz = Fleet.random(seed=1), Fleet.random(seed=1, frequency_unit_hz=1e6, mean_gain=0.5)
    assert np.allclose(mhz.max_frequency_hz * 1000.0, ghz.max_frequency_hz)
    assert np.allclose(mhz.channel_gain * 2.0, ghz.channel_gain)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"clients": 0}, "at least one client"),
        ({"classes": 0}, "at least one class"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"clients": 80, "samples": 79}, "79 samples cannot be shared among 80 clients"),
        ({"mean_gain": 0.0}, "mean_gain must be"),
        ({"mean_gain": float("nan")}, "mean_gain must be"),
    ],
)
def test_an_impossible_random_fleet_is_refused(arguments: dict[str, float], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        Fleet.random(**arguments)  # type: ignore[arg-type]


def test_groups_and_batteries_are_columns_that_come_back(tmp_path: Path) -> None:
    battery = np.array([np.inf, 5.0, 0.0])
    recharge, group = np.array([0.0, 0.5, 0.0]), np.array(["east", "", "west"])
    fleet = replace(Fleet.random(3, 0), group=group, battery_j=battery, recharge_j=recharge)
    fleet.write(tmp_path / "fleet.csv")
    back = Fleet.read(tmp_path / "fleet.csv")
    assert back.group.tolist() == ["east", "", "west"]
    assert back.battery_j.tolist() == battery.tolist()
    assert back.recharge_j.tolist() == [0.0, 0.5, 0.0]
    assert Fleet.random(3, 0).group.tolist() == ["", "", ""]
    with pytest.raises(InvalidInput, match="row 2, column 'battery_j': -1 must be at least 0"):
        replace(fleet, battery_j=np.array([1.0, -1.0, 1.0]))
