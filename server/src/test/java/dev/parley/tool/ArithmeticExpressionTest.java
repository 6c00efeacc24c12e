package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArithmeticExpressionTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2+3*4 | 14",
        "(2+3)*4 | 20",
        "10-2-3 | 5",
        "100/10/5 | 2",
        "2^3^2 | 512",
        "-2^2 | -4",
        "--2 | 2",
        "2*-3 | -6",
        "0.1+0.2 | 0.3",
        "1/3 | 0.3333333333333333333333333333333333",
        "7%3 | 1",
        "-7%3 | -1",
        ".5 | 0.5",
        "5. | 5",
        "2^-1 | 0.5",
        "0^0 | 1",
        "1000000*1000000 | 1000000000000",
        "2^200 | 1.606938044258990275541962092341163E+60",
        " 1 + 1 | 2",
        "0*5 | 0",
      })
  void expressions_have_their_value(String expression, String value) {
    assertThat(ArithmeticExpression.value(expression)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1+",
        "+",
        "(1",
        "1)",
        "1 2",
        "a",
        "1..2",
        ".",
        "1/0",
        "1%0",
        "0^-1",
        "2^0.5",
        "2^99999",
        "9^9999^9",
        "1\0",
        "()",
        "1+*2",
        "2**3",
        "٣"
      })
  void what_has_no_value_is_refused_with_a_reason(String expression) {
    assertThatThrownBy(() -> ArithmeticExpression.value(expression))
        .isInstanceOf(ArithmeticException.class)
        .hasMessageMatching(".{5,}");
  }

  @Test
  void length_and_depth_have_limits() {
    assertThatThrownBy(() -> ArithmeticExpression.value("1+".repeat(1_000) + "1"))
        .hasMessageContaining("at most");
    assertThatThrownBy(() -> ArithmeticExpression.value("(".repeat(400) + "1" + ")".repeat(400)))
        .hasMessageContaining("deep");
    assertThatThrownBy(() -> ArithmeticExpression.value("1^".repeat(400) + "1"))
        .hasMessageContaining("deep");
    assertThatThrownBy(() -> ArithmeticExpression.value("(9^9999)^9999"))
        .hasMessageContaining("too large");
  }
}
