package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.AGENT;
import static dev.parley.projection.ViewsFixture.C;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Pages have no gaps and no duplicates, also while events are appended.
class ViewPagesTest {

  @TempDir Path folder;
  private ViewsFixture viewsFixture;

  @BeforeEach
  void open() {
    viewsFixture = new ViewsFixture(folder);
  }

  @AfterEach
  void close() {
    viewsFixture.close();
  }

  /// Reads all pages, and runs `between` after each.
  private static <T> List<T> all(Function<@Nullable String, ResultPage<T>> page, Runnable between) {
    var items = new ArrayList<T>();
    @Nullable String cursor = null;
    do {
      var next = page.apply(cursor);
      items.addAll(next.items());
      cursor = next.nextCursor();
      between.run();
    } while (cursor != null && items.size() < 1000);
    return items;
  }

  private static List<String> names(String prefix, int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> prefix + i).toList();
  }

  @Test
  void messages() {
    var count = new AtomicInteger();
    names("m", 0, 50).forEach(id -> viewsFixture.addMessage(id, "text"));

    var read =
        all(
            cursor ->
                viewsFixture.views.messages(C, cursor == null ? 0 : Long.parseLong(cursor), 7),
            () -> viewsFixture.addMessage("more" + count.incrementAndGet(), "text"));

    assertThat(read).extracting(m -> m.messageId().value()).doesNotHaveDuplicates();
    assertThat(read.subList(0, 50))
        .extracting(m -> m.messageId().value())
        .isEqualTo(names("m", 0, 50));
  }

  @Test
  void tasks() {
    var count = new AtomicInteger();
    names("t", 0, 50).forEach(id -> viewsFixture.beginTask(Origin.root(new TaskId(id), AGENT)));

    var read =
        all(
            cursor -> viewsFixture.views.tasks(C, cursor, 9),
            () ->
                viewsFixture.complete(
                    Origin.root(new TaskId("t" + count.getAndIncrement()), AGENT), ""));

    assertThat(read).extracting(t -> t.taskId().value()).isEqualTo(names("t", 0, 50));
  }

  @Test
  void artifacts_that_get_new_versions_meanwhile() {
    var count = new AtomicInteger();
    names("a", 0, 50).forEach(this::write);

    var read =
        all(
            cursor -> viewsFixture.views.artifacts(C, cursor, 9),
            () -> write("a" + count.getAndAdd(3)));

    assertThat(read).extracting(a -> a.artifactId().value()).isEqualTo(names("a", 0, 50));
  }

  private void write(String id) {
    viewsFixture.add(new DataWrite(new ArtifactId(id), null, null, Json.object(), null, null));
  }

  @Test
  void contexts_that_rest_are_listed_once_and_those_that_change_at_most_once() {
    names("c", 0, 250).forEach(id -> create(id, "ada"));
    var changed = new AtomicInteger();

    var read =
        all(
            cursor -> viewsFixture.views.contexts(VisibleContexts.ALL, cursor, 20),
            () ->
                viewsFixture.add(
                    new ContextId("c" + changed.getAndAdd(10)),
                    null,
                    ViewsFixture.message("m", "text")));

    var resting = new ArrayList<>(names("c", 0, 250).reversed());
    resting.removeIf(id -> id.endsWith("0"));
    assertThat(read).extracting(c -> c.contextId().value()).doesNotHaveDuplicates();
    assertThat(read).extracting(c -> c.contextId().value()).containsSubsequence(resting);
  }

  @Test
  void contexts_are_listed_by_owner_and_the_last_changed_first() {
    create("c1", "ada");
    create("c2", "bob");
    create("c3", "eve");
    viewsFixture.add(new ContextId("c1"), null, ViewsFixture.message("m", "text"));

    assertThat(
            viewsFixture.views.contexts(VisibleContexts.of(Set.of("ada", "eve")), null, 10).items())
        .extracting(ContextView::contextId)
        .containsExactly(new ContextId("c1"), new ContextId("c3"), ViewsFixture.C);
    assertThat(viewsFixture.views.contexts(VisibleContexts.of(Set.of("nobody")), null, 10).items())
        .isEmpty();
    assertThat(viewsFixture.views.contexts(VisibleContexts.ALL, null, 10).items()).hasSize(4);
  }

  @Test
  void a_page_that_ends_with_the_last_item_says_that_there_is_no_more() {
    names("m", 0, 5).forEach(id -> viewsFixture.addMessage(id, "text"));

    assertThat(viewsFixture.views.messages(C, 0, 5).nextCursor()).isNull();
    assertThat(viewsFixture.views.messages(C, 0, 4).nextCursor()).isEqualTo("5");
  }

  @Test
  void a_limit_has_limits() {
    names("m", 0, 1100).forEach(id -> viewsFixture.addMessage(id, "text"));

    assertThat(viewsFixture.views.messages(C, 0, Integer.MAX_VALUE).items()).hasSize(1000);
    assertThat(viewsFixture.views.messages(C, 0, -5).items()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-1", "1.5x.", "99999999999999999999", "١", " 1", "1e3"})
  void a_cursor_that_is_none_is_refused(String cursor) {
    assertInvalid(() -> viewsFixture.views.tasks(C, cursor, 1));
    assertInvalid(() -> viewsFixture.views.artifacts(C, cursor, 1));
    if (!cursor.startsWith("1.")) {
      assertInvalid(() -> viewsFixture.views.contexts(VisibleContexts.ALL, cursor, 1));
    }
  }

  private static void assertInvalid(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("invalid-cursor"));
  }

  private void create(String id, String owner) {
    viewsFixture.log.create(new ContextId(id), new ContextCreated(owner, null, null));
  }
}
