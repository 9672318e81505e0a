"""The comparisons, against numbers worked out by hand from the printed figures."""

from fractions import Fraction as F

import pytest
from evidence import results
from evidence.data import Data
from evidence.quantity import Answer, Grade, Quantity, ratio

MODELS = ("gptoss120b", "dsr1", "kimik25")


@pytest.fixture(scope="module")
def data():
    return Data()


def ends(quantity, places):
    return tuple(round(float(end), places) for end in (quantity.low, quantity.high))


def test_the_comparators(data):
    assert [results.comparator(data, model) for model in MODELS] == ["gb200", "gb300", "gb300"]
    assert results.subject(data) == "jalapeno"


# from the printed digits: (5.895 / 1.435, 5.905 / 1.425) and so on, rounded to the places given
@pytest.mark.parametrize(
    "metric, expected",
    [
        ("tbt_min", {"gptoss120b": (2.68, 2.74), "dsr1": (4.11, 4.14), "kimik25": (3.79, 3.82)}),
        ("e2e_latency_min", {"gptoss120b": (1.73, 1.76), "dsr1": (3.62, 3.64), "kimik25": (3.39, 3.42)}),
        ("peak_throughput_per_kw", {"gptoss120b": (1.90, 1.90), "dsr1": (1.67, 1.67), "kimik25": (1.53, 1.53)}),
    ],
)  # fmt: skip
def test_leads(data, metric, expected):
    for model in MODELS:
        lead = results.lead(data, model, metric)
        assert ends(lead, 2) == expected[model]
        assert lead.grade is Grade.PUBLISHED


def test_peak_leads_to_three_digits(data):
    texts = [results.lead(data, model, "peak_throughput_per_kw").text(4) for model in MODELS]
    assert texts == ["1.901", "1.667", "1.534"]


def test_decode_speeds_narrow_the_ratio_of_tbt(data):
    speed = results.lead(data, "gptoss120b", "decode_speed_max")
    assert ends(speed, 3) == (2.724, 2.731)
    tbt = results.lead(data, "gptoss120b", "tbt_min")
    assert tbt.low < speed.low < speed.high < tbt.high


def test_equal_speed_ranges(data):
    found = [results.ratio(*results.equal_speed(data, model)).range() for model in MODELS]
    assert found == ["53.6 to 53.8", "103.4 to 104.3", "56.0 to 56.4"]


def test_the_printed_leads_lie_in_those_ranges_but_carry_more_digits(data):
    for model, printed in zip(MODELS, ("53.7×", "104.3×", "56.1×"), strict=True):
        own, other = results.equal_speed(data, model)
        lead = data.printed_lead(own.trace.formula)
        assert lead.printed == printed and lead.grade is Grade.STATED
        assert lead.meets(ratio(own, other))
        assert lead.high - lead.low < ratio(own, other).high - ratio(own, other).low


def test_mtp_is_second_hand(data):
    own, other = results.equal_speed_mtp(data, "dsr1")
    assert ratio(own, other).text() == "8.6" and ratio(own, other).grade is Grade.STATED


def test_shares_of_the_own_peak(data):
    shares = {model: [s.text(2) for s in results.share_of_peak(data, model)] for model in MODELS}
    assert shares == {"gptoss120b": ["27", "0.95"], "dsr1": ["62", "1.0"], "kimik25": ["37", "1.0"]}


def test_per_package_the_lead_is_small_or_gone(data):
    # 85,448 x 0.7 = 59,813.6 and 44,960 x 1.2 = 53,952
    own, other = results.per_package(data, "gptoss120b")
    assert own.low < F("59813.6") < own.high and other.low < 53952 < other.high
    found = [ratio(*results.per_package(data, model)).text(3) for model in MODELS]
    assert found == ["1.11", "0.834", "0.767"]


def test_break_even_power(data):
    limits = [results.break_even_power(data, model) for model in MODELS]
    assert [limit.text(3) for limit in limits] == ["1.33", "1.17", "1.07"]
    # at that power the lead is one: 0.7 kW times the lead at 0.7 kW
    for model, limit in zip(MODELS, limits, strict=True):
        lead = results.lead(data, model, "peak_throughput_per_kw")
        assert (ratio(limit, data.power("jalapeno"))).meets(lead)


def test_measured_power_has_no_upper_bound_and_no_counterpart(data):
    gain = results.gain_on_measured_power(data)
    assert gain.text(3) == "at least 1.27" and gain.grade is Grade.STATED
    with pytest.raises(Exception, match="has no measured_power"):
        data.power("gb300", "measured_power")


def test_output_lengths(data):
    thousand = Quantity.point(1000, "output_token/user")
    kimi = results.most_output_tokens(data, "kimik25", "gb300")
    # 1 + 5.305 / 0.005485 and 1 + 5.315 / 0.005475
    assert ends(kimi, 1) == (968.2, 971.8)
    assert kimi.text(2) == "about 970"
    assert (kimi < thousand) is Answer.YES
    assert (results.most_output_tokens(data, "gptoss120b", "gb200") < thousand) is Answer.YES
    assert (results.most_output_tokens(data, "dsr1", "gb300") < thousand) is Answer.NO
    assert results.expected_output_tokens(1024).text(3) == "922"


def test_agent_steps(data):
    found = [results.saved(data, model, 10).range() for model in MODELS]
    assert found == ["7.6 to 7.8", "43.3 to 43.5", "37.4 to 37.6"]
    assert results.saved(data, "dsr1", 10).grade is Grade.ASSUMED


def test_no_result_mixes_models_metrics_or_token_kinds(data):
    mixed, _ = results.pair(data, "dsr1", "peak_throughput_per_kw")
    speed, _ = results.pair(data, "dsr1", "decode_speed_max")
    with pytest.raises(ArithmeticError):
        mixed / speed
