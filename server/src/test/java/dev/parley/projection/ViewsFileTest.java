package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The file of the views may be lost or corrupted at any time.
class ViewsFileTest {

  @TempDir Path folder;
  private ViewsFixture viewsFixture;
  private String before = "";

  @BeforeEach
  void open() {
    viewsFixture = new ViewsFixture(folder);
    for (var i = 0; i < 2000; i++) {
      viewsFixture.addMessage("m" + i, "text " + i);
    }
    before = viewsFixture.views.dump();
  }

  @AfterEach
  void close() {
    viewsFixture.close();
  }

  @Test
  void kept_views_are_used_again() {
    viewsFixture.reopen();

    assertThat(viewsFixture.views.dump()).isEqualTo(before);
  }

  @Test
  void lost_views_are_made_anew() throws IOException {
    viewsFixture.views.close();
    Files.delete(viewsFixture.file);
    viewsFixture.reopen();

    assertThat(viewsFixture.views.dump()).isEqualTo(before);
  }

  @Test
  void garbage_is_thrown_away() throws IOException {
    viewsFixture.views.close();
    var garbage = new byte[100_000];
    new Random(1).nextBytes(garbage);
    Files.write(viewsFixture.file, garbage);
    viewsFixture.reopen();

    assertThat(viewsFixture.views.dump()).isEqualTo(before);
  }

  @Test
  void a_truncated_file_is_thrown_away() throws IOException {
    viewsFixture.views.close();
    var size = Files.size(viewsFixture.file);
    for (var left : new long[] {0, 50, 4096, size / 2, size - 4096}) {
      try (var channel = FileChannel.open(viewsFixture.file, StandardOpenOption.WRITE)) {
        channel.truncate(left);
      }
      viewsFixture.reopen();
      assertThat(viewsFixture.views.dump()).isEqualTo(before);
      viewsFixture.views.close();
    }
  }

  @Test
  void a_file_that_breaks_in_the_middle_is_thrown_away_when_that_shows() throws IOException {
    viewsFixture.views.close();
    var bytes = Files.readAllBytes(viewsFixture.file);
    new Random(1).nextBytes(bytes); // All but the first page, which has the file header.
    var first = Files.readAllBytes(viewsFixture.file);
    System.arraycopy(first, 0, bytes, 0, 4096);
    Files.write(viewsFixture.file, bytes);
    viewsFixture.reopen();

    assertThat(dumpInTheEnd()).isEqualTo(before);
  }

  @Test
  void views_of_another_version_are_thrown_away() throws SQLException {
    viewsFixture.views.close();
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + viewsFixture.file);
        var statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = 99");
      statement.execute("UPDATE messages SET content = 'of another version'");
    }
    viewsFixture.reopen();

    assertThat(viewsFixture.views.dump()).isEqualTo(before);
  }

  @Test
  void views_of_another_log_are_thrown_away() {
    viewsFixture.views.close();
    var other = new MemoryLog();
    other.create(new ContextId("other"), new ContextCreated("bob", null, null));

    try (var views = TestViews.open(viewsFixture.file, other)) {
      assertThat(views.contexts(VisibleContexts.ALL, null, 10).items())
          .extracting(context -> context.contextId().value())
          .containsExactly("other");
    }
  }

  @Test
  void views_that_are_ahead_of_the_log_are_made_anew() {
    viewsFixture.views.close();
    var younger = new MemoryLog();
    for (var i = 0; i < 3000; i++) {
      younger.create(new ContextId("x" + i), new ContextCreated("bob", null, null));
    }
    younger.create(C, new ContextCreated("bob", null, null));

    try (var views = TestViews.open(viewsFixture.file, younger)) {
      assertThat(views.context(C).owner()).isEqualTo("bob");
      assertThat(views.messages(C, 0, 10).items()).isEmpty();
    }
  }

  @Test
  void a_context_that_is_forgotten_leaves_no_bytes() throws IOException {
    var secret = new ContextId("secret");
    viewsFixture.log.create(secret, new ContextCreated("ada", "swordfish", null));
    var random = new Random(1);
    for (var i = 0; i < 500; i++) {
      viewsFixture.add(
          secret, null, ViewsFixture.message("m" + i, "swordfish".repeat(random.nextInt(1, 1000))));
      viewsFixture.addMessage("other" + i, "x".repeat(random.nextInt(5000)));
      if (i % 7 == 0) {
        // Stores what was added, so that the pages of both contexts alternate.
        viewsFixture.views.context(secret);
      }
    }
    viewsFixture.views.context(secret);
    assertThat(bytesOnDisk()).contains("swordfish");

    viewsFixture.log.delete(secret);
    viewsFixture.views.forget(secret);

    assertThat(bytesOnDisk()).doesNotContain("swordfish");
    assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(2500);
  }

  /// Returns the dump. Corruption may appear only after some queries, each of which may fail once.
  private String dumpInTheEnd() {
    for (var i = 0; i < 10; i++) {
      try {
        return viewsFixture.views.dump();
      } catch (Rejection.Unavailable _) {
        // Try again.
      }
    }
    throw new AssertionError("the views were not rebuilt");
  }

  private String bytesOnDisk() throws IOException {
    var all = new StringBuilder();
    try (var files = Files.list(folder)) {
      for (var file : files.toList()) {
        all.append(new String(Files.readAllBytes(file), ISO_8859_1));
      }
    }
    return all.toString();
  }
}
