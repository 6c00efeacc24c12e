package dev.parley.view;

import static dev.parley.view.Scene.C;
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
import java.time.InstantSource;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The file of the views may be lost or corrupted at any time.
class ViewsFileTest {

  @TempDir Path folder;
  private Scene scene;
  private String before = "";

  @BeforeEach
  void open() {
    scene = new Scene(folder);
    for (var i = 0; i < 2000; i++) {
      scene.say("m" + i, "text " + i);
    }
    before = scene.views.dump();
  }

  @AfterEach
  void close() {
    scene.close();
  }

  @Test
  void kept_views_are_used_again() {
    scene.reopen();

    assertThat(scene.views.dump()).isEqualTo(before);
  }

  @Test
  void lost_views_are_made_anew() throws IOException {
    scene.views.close();
    Files.delete(scene.file);
    scene.reopen();

    assertThat(scene.views.dump()).isEqualTo(before);
  }

  @Test
  void garbage_is_thrown_away() throws IOException {
    scene.views.close();
    var garbage = new byte[100_000];
    new Random(1).nextBytes(garbage);
    Files.write(scene.file, garbage);
    scene.reopen();

    assertThat(scene.views.dump()).isEqualTo(before);
  }

  @Test
  void a_truncated_file_is_thrown_away() throws IOException {
    scene.views.close();
    var size = Files.size(scene.file);
    for (var left : new long[] {0, 50, 4096, size / 2, size - 4096}) {
      try (var channel = FileChannel.open(scene.file, StandardOpenOption.WRITE)) {
        channel.truncate(left);
      }
      scene.reopen();
      assertThat(scene.views.dump()).isEqualTo(before);
      scene.views.close();
    }
  }

  @Test
  void a_file_that_breaks_in_the_middle_is_thrown_away_when_that_shows() throws IOException {
    scene.views.close();
    var bytes = Files.readAllBytes(scene.file);
    new Random(1).nextBytes(bytes); // All but the first page, which has the file header.
    var first = Files.readAllBytes(scene.file);
    System.arraycopy(first, 0, bytes, 0, 4096);
    Files.write(scene.file, bytes);
    scene.reopen();

    assertThat(dumpInTheEnd()).isEqualTo(before);
  }

  @Test
  void views_of_another_version_are_thrown_away() throws SQLException {
    scene.views.close();
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + scene.file);
        var statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = 99");
      statement.execute("UPDATE messages SET content = 'of another version'");
    }
    scene.reopen();

    assertThat(scene.views.dump()).isEqualTo(before);
  }

  @Test
  void views_of_another_log_are_thrown_away() {
    scene.views.close();
    var other = new MemoryLog(InstantSource.system());
    other.create(new ContextId("other"), new ContextCreated("bob", null, null));

    try (var views = new Views(scene.file, other)) {
      assertThat(views.contexts(Set.of(), null, 10).items())
          .extracting(context -> context.contextId().value())
          .containsExactly("other");
    }
  }

  @Test
  void views_that_are_ahead_of_the_log_are_made_anew() {
    scene.views.close();
    var younger = new MemoryLog(InstantSource.system());
    for (var i = 0; i < 3000; i++) {
      younger.create(new ContextId("x" + i), new ContextCreated("bob", null, null));
    }
    younger.create(C, new ContextCreated("bob", null, null));

    try (var views = new Views(scene.file, younger)) {
      assertThat(views.context(C).owner()).isEqualTo("bob");
      assertThat(views.messages(C, 0, 10).items()).isEmpty();
    }
  }

  @Test
  void a_context_that_is_forgotten_leaves_no_bytes() throws IOException {
    var secret = new ContextId("secret");
    scene.log.create(secret, new ContextCreated("ada", "swordfish", null));
    var random = new Random(1);
    for (var i = 0; i < 500; i++) {
      scene.add(secret, null, Scene.message("m" + i, "swordfish".repeat(random.nextInt(1, 1000))));
      scene.say("other" + i, "x".repeat(random.nextInt(5000)));
      if (i % 7 == 0) {
        scene.views.dump();
      }
    }
    scene.views.context(secret);
    assertThat(bytesOnDisk()).contains("swordfish");

    scene.log.delete(secret);
    scene.views.forget(secret);

    assertThat(bytesOnDisk()).doesNotContain("swordfish");
    assertThat(scene.views.context(C).messageCount()).isEqualTo(2500);
  }

  /// Returns the dump. Corruption may appear only after some queries, each of which may fail once.
  private String dumpInTheEnd() {
    for (var i = 0; i < 10; i++) {
      try {
        return scene.views.dump();
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
