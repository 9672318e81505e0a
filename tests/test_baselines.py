"""The comparators recomputed, against numbers worked out by hand from the rows and the prints.

The numbers belong to the rows of the published comparison: once an import has refreshed the
tables, the tests of this file that need those very rows are skipped.
"""

import pytest
from evidence import baselines, points
from evidence.baselines import Comparator
from evidence.data import Data
from evidence.paths import DATA
from evidence.quantity import Grade

FOLDER = DATA / "inferencex"
pytestmark = pytest.mark.skipif(
    any(FOLDER.glob("*.import.json")), reason="an import has refreshed the rows"
)


@pytest.fixture(scope="module")
def data():
    return Data()


@pytest.fixture(scope="module")
def r1(data):
    return Comparator.of(data, "dsr1")


@pytest.fixture(scope="module")
def kimi(data):
    return Comparator.of(data, "kimik25")


@pytest.fixture(scope="module")
def gptoss(data):
    return Comparator.of(data, "gptoss120b")


def near(quantity, expected, digits=4):
    return quantity.middle == pytest.approx(expected, abs=0.5 * 10**-digits)


def table(comparator, decoding="stp"):
    return {row.metric: row for row in baselines.reproduced(comparator, decoding)}


# -- reproduction -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "metric", "value", "fits"),
    [
        ("gptoss120b", "peak_throughput_per_kw", 53952.46806265401 / 1.2, True),
        ("gptoss120b", "tbt_min", 1.868218454301966, True),
        ("gptoss120b", "throughput_per_kw_at_own_best_tbt", 512.9866878953704 / 1.2, True),
        ("gptoss120b", "speed_label", 535.2693, False),
        ("dsr1", "peak_throughput_per_kw", 16493.11158022772 / 1.4, True),
        ("dsr1", "tbt_min", 5.90268038488141, True),
        ("dsr1", "throughput_per_kw_at_own_best_tbt", 164.54321359349814 / 1.4, True),
        ("dsr1", "speed_label", 169.41456, True),
        ("dsr1", "e2e_latency_min", 5.9888097912597, True),
        ("kimik25", "peak_throughput_per_kw", 16606.133026141393 / 1.4, True),
        ("kimik25", "tbt_min", 5.48065913521843, True),
        ("kimik25", "throughput_per_kw_at_own_best_tbt", 168.29234845751762 / 1.4, True),
    ],
)
def test_each_printed_figure_beside_its_row(data, model, metric, value, fits):
    line = table(Comparator.of(data, model))[metric]
    assert line.value.middle == pytest.approx(value, rel=1e-6)
    assert line.fits is fits


def test_only_rows_that_name_their_system_reproduce(r1, gptoss, kimi):
    assert {row.grade for row in table(r1).values()} == {Grade.REPRODUCED}
    for comparator in (gptoss, kimi):
        assert {row.grade for row in table(comparator).values()} == {Grade.PUBLISHED}


def test_the_printed_tbt_of_r1_is_a_mean_and_its_e2e_belongs_to_another_row(r1):
    lines = table(r1)
    tbt, e2e = lines["tbt_min"], lines["e2e_latency_min"]
    assert tbt.statistic == "mean" and r1.statistic == "mean"
    assert not tbt.printed.meets(tbt.row.tpot("median"))
    assert (tbt.row.config_id, e2e.row.config_id) == (417, 437)


def test_the_other_two_are_medians_and_have_no_e2e(gptoss, kimi):
    for comparator in (gptoss, kimi):
        assert comparator.statistic == "median"
        line = table(comparator)["e2e_latency_min"]
        assert line.value is None and line.fits is None and line.moved is None


def test_with_mtp_a_figure_known_second_hand_is_reproduced_but_not_its_label(r1):
    lines = table(r1, "mtp")
    label = lines.pop("speed_label")
    assert all(line.fits and line.grade == Grade.REPRODUCED for line in lines.values())
    assert not label.fits and near(label.value, 329.0145) and label.grade == Grade.STATED


def test_how_far_a_comparator_moved_is_the_rows_value_over_the_printed_one(r1):
    # 117.5309 over 117.5 to 118.5
    moved = table(r1)["throughput_per_kw_at_own_best_tbt"].moved
    assert float(moved.low) == pytest.approx(0.99182, abs=1e-5)
    assert float(moved.high) == pytest.approx(1.00026, abs=1e-5)


# -- what depends on the baseline ---------------------------------------------------------


def test_leads_without_and_with_mtp(r1):
    stp, mtp = (baselines.leads(r1, decoding) for decoding in ("stp", "mtp"))
    # 19,641 / 11,780.79; 19,641 / 12,951.11; 5.9027 / 1.43; 3.0394 / 1.43; 5.9888, 3.6913 / 1.65
    assert near(stp.peak, 1.6672) and near(mtp.peak, 1.5165)
    assert near(stp.tbt, 4.128, 3) and near(mtp.tbt, 2.1255, 3)
    assert near(stp.e2e, 3.630, 3) and near(mtp.e2e, 2.237, 3)
    assert stp.peak.grade == Grade.PUBLISHED


@pytest.mark.parametrize(
    ("statistic", "curve", "measured"), [("mean", 2.8125, 3.6276), ("median", 3.9331, 10.6428)]
)
def test_the_equal_speed_lead_depends_on_mtp_and_on_the_statistic(r1, statistic, curve, measured):
    found = baselines.equal_speed(r1, statistic)
    assert near(found.lead_stp, 104.296, 2)
    assert near(found.lead_mtp["steffen"], curve, 3)
    assert near(found.lead_mtp["next_faster"], measured, 3)
    assert found.lead_mtp["steffen"].grade == Grade.ASSUMED
    assert found.lead_mtp["next_faster"].grade == Grade.PUBLISHED


def test_mtp_gives_37_times_the_throughput_of_stp_at_that_speed(r1):
    found = baselines.equal_speed(r1, "mean")
    assert (found.mtp["steffen"] / found.stp).middle == pytest.approx(37.08, abs=0.01)


def test_a_point_a_little_slower_has_almost_twice_the_throughput(r1):
    # 6.070510932 / 5.90268038 - 1; 306.4067918 / 164.5432136; 12,258 / (306.4068 / 1.4)
    found = baselines.endpoint(r1)
    assert near(found.slower, 0.02843) and near(found.more, 1.8622, 3)
    assert near(found.lead, 56.01, 2)


def test_systems_that_beat_the_chosen_comparator(r1, gptoss, kimi):
    def found(comparator):
        return [
            (b.row.hardware, b.row.decoding, round(b.per_kw.middle), round(b.lead.middle, 2))
            for b in baselines.beating(comparator)
        ]

    assert found(gptoss) == [("b200", "stp", 63536, 1.34)]
    assert found(kimi) == [("gb200", "stp", 13967, 1.30)]
    assert found(r1) == [
        ("b200", "mtp", 13430, 1.46),
        ("b300", "mtp", 13223, 1.49),
        ("b300", "stp", 13029, 1.51),
        ("b200", "stp", 12951, 1.52),
    ]


def test_their_age_is_given_where_it_is_known(r1):
    dates = {(b.row.hardware, b.row.decoding): b.date for b in baselines.beating(r1)}
    assert dates["b300", "mtp"] == "2026-01-28" and dates["b200", "stp"] == "not known"


# -- power bases --------------------------------------------------------------------------


def bases(comparator):
    return {(b.subject.id, b.comparator.id): b for b in baselines.power_bases(comparator)}


@pytest.mark.parametrize(
    ("ours", "theirs", "lead", "change"),
    [
        # 19,641 * 0.7 / x over 11,781 * 1.4 / y
        ("jalapeno_deck", "gb300_deck", 0.83359 * 2.55 / 1.18, "widens"),
        ("jalapeno_36kr", "gb300_inferencex", 0.83359 * 2.12 / 1.125, "shrinks"),
        ("jalapeno_rack", "gb300_inferencex", 0.83359 * 2.12 / 1.25, "shrinks"),
        ("jalapeno_provisioned", "gb300_inferencex_other", 0.83359 * 2.1 / 1.40625, "shrinks"),
        ("jalapeno_rack", "gb300_deck", 0.83359 * 2.55 / 1.25, "undecided"),
    ],
)
def test_the_lead_per_all_in_kw(r1, ours, theirs, lead, change):
    found = bases(r1)[ours, theirs]
    assert float(found.lead.low) < lead < float(found.lead.high)
    assert found.change == change and found.lead.grade == Grade.STATED


def test_all_in_figures_for_a_rack_are_derived(data):
    found = points.all_in(data)
    assert near(found["jalapeno_rack"].quantity, 160 / 128, 2)
    assert near(found["jalapeno_provisioned"].quantity, 180 / 128)
    assert near(found["jalapeno_node"].quantity, 11 / 8)


def test_pairs_of_one_source_come_first(r1):
    assert [b.same_source for b in baselines.power_bases(r1)][:2] == [True, False]


# -- end-to-end latency -------------------------------------------------------------------


def test_rows_with_ttft_give_their_mean_output_length(r1):
    # (5.98881 - 0.38661) / 0.00607051 + 1; (3.69128 - 0.88920) / 0.00303938 + 1
    stp, mtp = (baselines.measured_parts(r1.soonest(d, "mean")) for d in ("stp", "mtp"))
    assert near(stp.tokens, 923.85, 2) and near(mtp.tokens, 922.92, 2)
    assert near(stp.share, 0.9354) and stp.tokens.grade == Grade.REPRODUCED


def test_elsewhere_the_output_length_is_a_parameter(gptoss, kimi):
    # 1.87 ms * 921 = 1.722 s of 1.80; 0.69 * 921 = 0.635 of 1.03; 5.48 * 921 = 5.047 of 5.31
    found = [
        baselines.assumed_parts(gptoss, "gb200"),
        baselines.assumed_parts(gptoss, "jalapeno"),
        baselines.assumed_parts(kimi, "gb300"),
    ]
    assert [round(part.decode.middle, 3) for part in found] == [1.722, 0.635, 5.047]
    assert [round(part.first.middle, 3) for part in found] == [0.078, 0.395, 0.263]
    assert {part.first.grade for part in found} == {Grade.ASSUMED}
    half = baselines.assumed_parts(kimi, "gb300", tokens=461)
    assert half.decode.middle == pytest.approx(5.48e-3 * 460)


# -- over 9x at 100 tok/s/user ------------------------------------------------------------


def test_what_the_claim_at_100_tokens_a_second_implies(kimi):
    found = {row.method: row for row in baselines.implied(kimi)}
    assert near(found["steffen"].comparator, 1256.8, 1)
    assert near(found["linear"].comparator, 1320.0, 1)
    assert near(found["next_faster"].comparator, 1552.9835513741 / 1.4, 3)
    assert float(found["steffen"].subject.low) == pytest.approx(9 * 1256.827, abs=0.1)
    assert near(found["steffen"].most, 18195 / 1256.827, 2)
    assert {row.subject.grade for row in found.values()} == {Grade.ASSUMED, Grade.STATED}


def test_counted_per_all_in_kw_the_claim_implies_another_value(kimi, data):
    power = points.all_in(data)
    found = baselines.implied_all_in(kimi, power["jalapeno_deck"], power["gb300_deck"])
    # 9 * 1256.827 * 1.4 / 2.55 * 1.18 / 0.7, at the least favourable ends of both intervals
    assert float(found.low) == pytest.approx(11311.4 * 1.4 / 2.555 * 1.175 / 0.7, rel=1e-4)


def test_a_reading_outside_the_measured_range_is_the_edge_point(kimi):
    fast = baselines.Quantity.point(500, points.SPEED)
    edge = baselines.reading(kimi, fast, decoding="stp", statistic="median")
    assert near(edge, 120.2088)
    slow = baselines.Quantity.point(1, points.SPEED)
    assert near(baselines.reading(kimi, slow, decoding="stp", statistic="median"), 11861.5236, 3)


def test_systems_that_are_faster_than_the_comparator_like_for_like(r1, gptoss, kimi):
    def found(comparator, decoding):
        quick = baselines.quicker(comparator, decoding)
        return [(q.row.hardware, round(q.row.tpot.middle, 3)) for q in quick]

    assert found(gptoss, "stp") == [] and found(gptoss, "mtp") == []
    assert found(kimi, "stp") == [("gb200", 5.453)]
    assert found(r1, "stp") == [("b300", 5.675)]
    assert found(r1, "mtp") == [("mi355x", 2.901), ("b300", 3.139)]
    # 5.6746 / 1.43
    assert near(baselines.quicker(r1, "stp")[0].lead, 3.968, 3)


# -- the chart ----------------------------------------------------------------------------


def test_the_subject_is_drawn_as_points_that_nothing_joins(r1):
    from evidence import charts, charts_baseline

    spec = charts_baseline.comparator_chart(r1).to_dict()
    green = charts.tokens()["jalapeno"]
    marks = [layer["mark"] for layer in spec["layer"]]
    own = [m["type"] for m in marks if green in (m.get("color"), m.get("fill"))]
    assert "line" not in own and "point" in own
    assert [m["type"] for m in marks].count("line") == 2  # the fronts without and with MTP


def test_the_charts_numbers_tell_on_which_front_a_point_is(r1, kimi):
    from evidence import charts_baseline

    rows = charts_baseline.front_rows(r1)
    assert [row[0] for row in rows].count("MTP") == 9 and {row[4] for row in rows} >= {"yes", "no"}
    assert any(row[4] == "its framework’s" for row in charts_baseline.front_rows(kimi))
