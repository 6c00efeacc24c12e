package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.parley.bench.GrowthCurve.Point;
import dev.parley.bench.GrowthCurve.Shape;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

class GrowthCurveTest {

  private static GrowthCurve of(DoubleUnaryOperator value) {
    return new GrowthCurve(
        List.of(10.0, 100.0, 1_000.0).stream()
            .map(size -> new Point(size, value.applyAsDouble(size)))
            .toList());
  }

  @Test
  void a_constant_value_is_flat() {
    assertThat(of(_ -> 7).shape()).isEqualTo(Shape.FLAT);
  }

  @Test
  void a_proportional_value_is_linear() {
    var curve = of(size -> 3 * size);

    assertThat(curve.exponent()).isCloseTo(1, within(0.01));
    assertThat(curve.shape()).isEqualTo(Shape.LINEAR);
  }

  @Test
  void the_root_of_a_size_is_below_linear() {
    assertThat(of(Math::sqrt).shape()).isEqualTo(Shape.BELOW_LINEAR);
  }

  @Test
  void a_square_is_worse_than_linear_even_behind_a_constant_cost() {
    var curve = of(size -> 1_000 + size * size);

    assertThat(curve.shape()).isEqualTo(Shape.WORSE);
  }

  @Test
  void a_single_size_is_no_curve() {
    assertThat(new GrowthCurve(List.of(new Point(5, 5))).shape()).isEqualTo(Shape.FLAT);
  }
}
