package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.bench.BenchmarkChart.ChartLine;
import dev.parley.bench.BenchmarkChart.ChartPoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkReportTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final BenchmarkReport report =
      new BenchmarkReport(new PrintStream(bytes, true, StandardCharsets.UTF_8));

  private String printed() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void a_goal_is_met_or_missed() {
    report.title("Speed");
    report.atLeast("appends", 10, 12, "/s");
    report.atMost("delay", 3, 4, " ms");
    report.summary();

    assertThat(printed())
        .contains("met     appends: at least 10/s (measured 12/s)")
        .contains("MISSED  delay: at most 3 ms (measured 4 ms)")
        .contains("1 of 2 goals met");
  }

  @Test
  void a_noisy_machine_judges_no_goal() {
    report.doNotJudge();
    report.title("Speed");
    report.atLeast("appends", 10, 12, "/s");
    report.atMost("delay", 3, 4, " ms");
    report.summary();

    assertThat(printed())
        .contains("not judged (noise) appends: at least 10/s (measured 12/s)")
        .doesNotContain("MISSED", "met  ");
  }

  @Test
  void noise_above_a_limit_is_a_reason_not_to_judge() {
    assertThat(new MachineNoise(1.05, 0, 0.02, 0.2, 2).reasons()).isEmpty();
    assertThat(new MachineNoise(1.6, 0.05, 0.4, 0.2, 9).reasons()).hasSize(4);
  }

  @Test
  void results_survive_the_way_through_a_file(@TempDir Path folder) throws IOException {
    report.title("Speed");
    report.note("a note");
    report.table(new ReportTable("contexts", "events/s").row("1", "3,582"));
    report.atLeast("appends", 10, 12, "/s");
    report.chart(
        new BenchmarkChart(
            "speed",
            "Speed",
            "contexts",
            "events/s",
            List.of(new ChartLine("Parley", List.of(new ChartPoint(1, 3_582))))));
    var results = report.results("2026-11-18", "abc1234");
    var file = folder.resolve("results.json");

    results.write(file);
    var read = BenchmarkResults.read(file);
    read.writeCharts(folder);

    assertThat(read).isEqualTo(results);
    assertThat(read.markdown())
        .contains("commit abc1234", "| contexts | events/s |", "| 1 | 3,582 |", "| met |");
    assertThat(folder.resolve("speed.svg"))
        .content()
        .isEqualTo(SvgChart.of(results.sections().getFirst().charts().getFirst()));
  }
}
