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

  private Bench bench;

  @BeforeEach
  void open() throws IOException {
    bench = Bench.in(folder);
  }

  @Test
  void a_report_is_written_in_chunks_that_give_the_text_again() throws Exception {
    var text = "line 🙂\n".repeat(3) + "🙂".repeat(5_000);
    new Report().call(new Report.Arguments("My report!.md", "d", text), bench);

    var chunks = bench.written().stream().map(FileWrite.class::cast).toList();
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
    new Report().call(new Report.Arguments("r", null, ""), bench);

    assertThat(((FileWrite) bench.written().getFirst()).complete()).isTrue();
  }

  @Test
  void rows_that_are_given_become_a_dataset() throws Exception {
    var rows = List.of(Json.object().put("a", 1), Json.object().put("a", "x").put("b", true));
    var result =
        Bench.done(new Dataset().call(new Dataset.Arguments("d", null, null, rows), bench));

    assertThat(result.path("rows").asInt()).isEqualTo(2);
    var first = (DatasetWrite) bench.written().getFirst();
    assertThat(first.schema().at("/properties/a/type").toString())
        .isEqualTo("[\"number\",\"string\"]");
  }

  @Test
  void a_file_with_only_a_header_gives_an_empty_dataset_that_is_whole() throws Exception {
    Files.writeString(folder.resolve("h.csv"), "\uFEFFa,b\n");
    var arguments = new Dataset.Arguments("d", null, List.of("h.csv"), null);
    var result = Bench.done(new Dataset().call(arguments, bench));

    assertThat(result.at("/files/0/columns").toString()).isEqualTo("[\"a\",\"b\"]");
    var only = (DatasetWrite) bench.written().getFirst();
    assertThat(only.rows()).isEmpty();
    assertThat(only.complete()).isTrue();
  }

  @Test
  void what_makes_no_sense_is_refused_and_writes_nothing() throws Exception {
    var dataset = new Dataset();
    var outside = new Dataset.Arguments("d", null, List.of("../x.csv"), null);

    assertThat(Bench.failed(dataset.call(new Dataset.Arguments("d", null, null, null), bench)))
        .contains("either");
    assertThat(Bench.failed(dataset.call(outside, bench))).contains("no such file");
    assertThat(Bench.failed(new Data().call(new Data.Arguments(" ", null, Json.object()), bench)))
        .contains("name");
    assertThat(bench.written()).isEmpty();
  }

  @Test
  void the_clock_tells_the_time_in_a_zone() {
    var clock = new Clock(() -> Instant.parse("2026-01-02T03:04:05.678Z"));

    assertThat(Bench.done(clock.call(new Clock.Arguments(null), bench)).path("time").asString())
        .isEqualTo("2026-01-02T03:04:05Z");
    assertThat(
            Bench.done(clock.call(new Clock.Arguments("Europe/Berlin"), bench))
                .path("time")
                .asString())
        .isEqualTo("2026-01-02T04:04:05+01:00");
    assertThat(Bench.failed(clock.call(new Clock.Arguments("Mars/Base"), bench)))
        .contains("no such time zone");
  }
}
