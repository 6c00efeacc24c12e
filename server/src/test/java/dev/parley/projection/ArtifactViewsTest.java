package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.A;
import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.T;
import static dev.parley.projection.ViewsFixture.base64;
import static dev.parley.projection.ViewsFixture.data;
import static dev.parley.projection.ViewsFixture.file;
import static dev.parley.projection.ViewsFixture.rows;
import static dev.parley.projection.ViewsFixture.status;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ArtifactView.ArtifactStatus;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Artifacts in the views, and their bytes.
class ArtifactViewsTest {

  @TempDir Path folder;
  private ViewsFixture viewsFixture;

  @BeforeEach
  void open() {
    viewsFixture = new ViewsFixture(folder);
    viewsFixture.beginTask(T);
  }

  @AfterEach
  void close() {
    viewsFixture.close();
  }

  private ArtifactView artifact() {
    return viewsFixture.views.artifact(C, A, null).orElseThrow();
  }

  private String text(ArtifactView artifact) {
    return new String(viewsFixture.views.content(C, artifact), UTF_8);
  }

  @Test
  void a_file_is_its_chunks_in_order() { // EVENT-41
    viewsFixture.add(T, file("Grüße, ", 0, false));
    assertThat(artifact().status()).isEqualTo(ArtifactStatus.BUILDING);
    viewsFixture.addMessage("m", "meanwhile");
    viewsFixture.add(T, file("😀", 1, true));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.COMPLETE);
    assertThat(artifact().name()).isEqualTo("notes.md");
    assertThat(artifact().firstSeq()).isEqualTo(4);
    assertThat(artifact().lastSeq()).isEqualTo(6);
    assertThat(text(artifact())).isEqualTo("Grüße, 😀");
    assertThat(artifact().size()).isEqualTo("Grüße, 😀".getBytes(UTF_8).length);
    assertThat(viewsFixture.views.task(C, T.taskId()).orElseThrow().artifacts()).containsExactly(A);
  }

  @Test
  void base64_gives_the_exact_bytes_wherever_it_is_cut() { // EVENT-41
    var bytes = new byte[1000];
    new Random(1).nextBytes(bytes);
    var whole = Base64.getEncoder().encodeToString(bytes);
    for (var cut = 1; cut < 9; cut++) {
      var index = 0;
      for (var from = 0; from < whole.length(); from += 100 + cut) {
        var to = Math.min(whole.length(), from + 100 + cut);
        viewsFixture.add(T, base64(whole.substring(from, to), index++, to == whole.length()));
      }
      assertThat(viewsFixture.views.content(C, artifact())).isEqualTo(bytes);
      assertThat(artifact().size()).isEqualTo(bytes.length);
      assertThat(artifact().version()).isEqualTo(cut);
    }
  }

  @Test
  void base64_chunks_may_each_be_padded() {
    viewsFixture.add(T, base64("QQ==", 0, false));
    viewsFixture.add(T, base64("QkI=\n", 1, false));
    viewsFixture.add(T, base64("Qw", 2, true));

    assertThat(text(artifact())).isEqualTo("ABBC");
    assertThat(artifact().size()).isEqualTo(4);
  }

  @Test
  void what_should_be_base64_and_is_not_fails() {
    viewsFixture.add(T, base64("QUJD", 0, false));
    viewsFixture.add(T, base64("!!!!", 1, true));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.FAILED);
    assertThat(text(artifact())).isEqualTo("ABC");
  }

  @Test
  void a_missing_chunk_fails_the_artifact_and_leaves_what_came_before() { // EVENT-46
    viewsFixture.add(T, file("one", 0, false));
    viewsFixture.add(T, file("three", 2, true));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.FAILED);
    assertThat(text(artifact())).isEqualTo("one");
  }

  @Test
  void an_artifact_without_its_first_chunk_fails() { // EVENT-46
    viewsFixture.add(T, file("two", 1, true));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.FAILED);
    assertThat(text(artifact())).isEmpty();
  }

  @Test
  void an_artifact_that_its_task_leaves_unfinished_fails() { // EVENT-46
    viewsFixture.add(T, file("one", 0, false));
    viewsFixture.add(T, status(TaskState.CANCELED));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.FAILED);
  }

  @Test
  void a_chunk_after_the_last_changes_nothing() {
    viewsFixture.add(T, file("all", 0, true));
    viewsFixture.add(T, file("more", 1, true));

    assertThat(artifact().status()).isEqualTo(ArtifactStatus.COMPLETE);
    assertThat(text(artifact())).isEqualTo("all");
  }

  @Test
  void a_second_write_of_data_is_a_second_version() { // EVENT-42
    viewsFixture.add(T, data("a", 1));
    viewsFixture.add(T, data("b", 2));

    assertThat(artifact().version()).isEqualTo(2);
    assertThat(text(artifact())).isEqualTo("{\"b\":2}");
    var first = viewsFixture.views.artifact(C, A, 1).orElseThrow();
    assertThat(first.latestVersion()).isEqualTo(2);
    assertThat(text(first)).isEqualTo("{\"a\":1}");
    assertThat(first.size()).isEqualTo(7);
    assertThat(viewsFixture.views.artifact(C, A, 3)).isEmpty();
    assertThat(viewsFixture.views.artifacts(C, null, 10).items()).containsExactly(artifact());
  }

  @Test
  void a_dataset_is_its_rows_as_lines() { // EVENT-43
    viewsFixture.add(T, rows(0, false, Json.object().put("a", 1), Json.object().put("a", 2)));
    viewsFixture.add(T, rows(1, true, Json.object().put("a", 3)));

    assertThat(text(artifact())).isEqualTo("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    assertThat(artifact().size()).isEqualTo(24);
    assertThat(artifact().type()).isEqualTo(ArtifactView.ArtifactType.DATASET);
  }

  @Test
  void an_artifact_that_is_too_large_is_refused() {
    var chunk = "x".repeat(8 << 20);
    for (var i = 0; i < 9; i++) {
      viewsFixture.add(T, file(chunk, i, i == 8));
    }

    assertThat(artifact().size()).isEqualTo(9L * (8 << 20));
    assertThatThrownBy(() -> viewsFixture.views.content(C, artifact()))
        .isInstanceOf(Rejection.TooLarge.class);
  }
}
