package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactToolsTest {

  @TempDir Path folder;

  private FakeToolContext fakeToolContext;

  @BeforeEach
  void open() throws IOException {
    fakeToolContext = FakeToolContext.in(folder);
  }

  @Test
  void a_report_is_written_in_chunks_that_give_the_text_again() throws Exception {
    var text = "line 🙂\n".repeat(3) + "🙂".repeat(5_000);
    new ReportTool().call(new ReportTool.Arguments("My report!.md", "d", text), fakeToolContext);

    var chunks = fakeToolContext.written().stream().map(FileWrite.class::cast).toList();
    assertThat(chunks.stream().map(FileWrite::data).collect(Collectors.joining())).isEqualTo(text);
    assertThat(chunks)
        .noneMatch(c -> Character.isHighSurrogate(c.data().charAt(c.data().length() - 1)));
    assertThat(chunks)
        .extracting(FileWrite::index)
        .isEqualTo(IntStream.range(0, chunks.size()).boxed().toList());
    assertThat(chunks.stream().filter(FileWrite::complete)).containsExactly(chunks.getLast());
    assertThat(chunks.getFirst().artifactId().value()).isEqualTo("My-report-.md");
    assertThat(chunks.getFirst().name()).isEqualTo("My report!.md");
    assertThat(chunks.get(1).name()).isNull();
  }

  @Test
  void an_empty_report_is_one_whole_chunk() throws Exception {
    new ReportTool().call(new ReportTool.Arguments("r", null, ""), fakeToolContext);

    assertThat(((FileWrite) fakeToolContext.written().getFirst()).complete()).isTrue();
  }

  @Test
  void rows_that_are_given_become_a_dataset() throws Exception {
    var rows = List.of(Json.object().put("a", 1), Json.object().put("a", "x").put("b", true));
    var result =
        FakeToolContext.done(
            new DatasetTool()
                .call(new DatasetTool.Arguments("d", null, null, rows), fakeToolContext));

    assertThat(result.path("rows").asInt()).isEqualTo(2);
    var first = (DatasetWrite) fakeToolContext.written().getFirst();
    assertThat(first.schema().at("/properties/a/type").toString())
        .isEqualTo("[\"number\",\"string\"]");
  }

  @Test
  void a_file_with_only_a_header_gives_an_empty_dataset_that_is_whole() throws Exception {
    Files.writeString(folder.resolve("h.csv"), "\uFEFFa,b\n");
    var arguments = new DatasetTool.Arguments("d", null, List.of("h.csv"), null);
    var result = FakeToolContext.done(new DatasetTool().call(arguments, fakeToolContext));

    assertThat(result.at("/files/0/columns").toString()).isEqualTo("[\"a\",\"b\"]");
    var only = (DatasetWrite) fakeToolContext.written().getFirst();
    assertThat(only.rows()).isEmpty();
    assertThat(only.complete()).isTrue();
  }

  @Test
  void what_makes_no_sense_is_refused_and_writes_nothing() throws Exception {
    var datasetTool = new DatasetTool();
    var outside = new DatasetTool.Arguments("d", null, List.of("../x.csv"), null);

    assertThat(
            FakeToolContext.failed(
                datasetTool.call(
                    new DatasetTool.Arguments("d", null, null, null), fakeToolContext)))
        .contains("either");
    assertThat(FakeToolContext.failed(datasetTool.call(outside, fakeToolContext)))
        .contains("no such file");
    assertThat(
            FakeToolContext.failed(
                new DataTool()
                    .call(new DataTool.Arguments(" ", null, Json.object()), fakeToolContext)))
        .contains("name");
    assertThat(fakeToolContext.written()).isEmpty();
  }

  @Test
  void the_clock_tells_the_time_in_a_zone() {
    var clockTool = new ClockTool(() -> Instant.parse("2026-01-02T03:04:05.678Z"));

    assertThat(
            FakeToolContext.done(clockTool.call(new ClockTool.Arguments(null), fakeToolContext))
                .path("time")
                .asString())
        .isEqualTo("2026-01-02T03:04:05Z");
    assertThat(
            FakeToolContext.done(
                    clockTool.call(new ClockTool.Arguments("Europe/Berlin"), fakeToolContext))
                .path("time")
                .asString())
        .isEqualTo("2026-01-02T04:04:05+01:00");
    assertThat(
            FakeToolContext.failed(
                clockTool.call(new ClockTool.Arguments("Mars/Base"), fakeToolContext)))
        .contains("no such time zone");
  }
}
