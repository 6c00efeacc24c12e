package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every benchmark runs to its end and prints numbers. Only `./bench` gives meaningful ones, so two
/// may run at the same time.
@Execution(ExecutionMode.CONCURRENT)
class BenchmarkTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final BenchmarkReport benchmarkReport =
      new BenchmarkReport(new PrintStream(bytes, true, StandardCharsets.UTF_8));

  private static final BenchmarkOptions TINY =
      new BenchmarkOptions(
          List.of(),
          RunLength.TINY,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          false);

  static Stream<String> names() {
    return BenchmarkMain.all(TINY).stream().map(Benchmark::name);
  }

  @ParameterizedTest
  @MethodSource("names")
  void a_benchmark_prints_a_table_of_numbers(String name) throws IOException, InterruptedException {
    for (var benchmark : BenchmarkMain.all(TINY)) {
      if (benchmark.name().equals(name)) {
        benchmark.run(benchmarkReport);
      }
    }

    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .startsWith("\n== ")
        .containsPattern("(?m)^----+$")
        .containsPattern("(?m)  [0-9][0-9.,]*( x)?$")
        .doesNotContain("NaN", "Infinity");
  }
}
