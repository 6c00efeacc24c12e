package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class BenchmarkOptionsTest {

  @Test
  void options_and_names_may_be_mixed() {
    var options =
        BenchmarkOptions.parse(List.of("append", "--json", "out.json", "--quick", "growth"));

    assertThat(options.names()).containsExactly("append", "growth");
    assertThat(options.json()).contains(Path.of("out.json"));
    assertThat(options.charts()).isEmpty();
    assertThat(options.runLength()).isEqualTo(RunLength.QUICK);
  }

  @Test
  void an_unknown_option_and_a_missing_value_are_rejected() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BenchmarkOptions.parse(List.of("--fast")));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BenchmarkOptions.parse(List.of("--json")));
  }
}
