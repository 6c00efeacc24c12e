package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextSnapshot.PartialText;
import dev.parley.protocol.ContextSnapshot.UsageView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.runtime.ClockTime;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Properties of the views for random events.
class ViewsPropertyTest {

  private static final ContextId C = new ContextId("c0");

  @TempDir Path folder;
  private final AtomicLong millis = new AtomicLong();
  private final MemoryLog log =
      new MemoryLog(new ClockTime(() -> Instant.ofEpochMilli(millis.addAndGet(7))));

  private List<RandomEventWriter> eventWriters(Random random, int contexts, boolean rewinds) {
    var stories = new ArrayList<RandomEventWriter>();
    for (var i = 0; i < contexts; i++) {
      stories.add(new RandomEventWriter(log, random, new ContextId("c" + i), rewinds));
    }
    return stories;
  }

  private Views views(String name) {
    return TestViews.open(folder.resolve(name), log);
  }

  private List<Entry> entries() {
    return log.read(C, Position.START, Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void views_kept_equal_views_rebuilt_byte_for_byte(long seed) {
    var random = new Random(seed);
    var stories = eventWriters(random, 4, true);
    try (var kept = views("kept.db")) {
      for (var i = 0; i < 800; i++) {
        var randomEventWriter = stories.get(random.nextInt(stories.size()));
        randomEventWriter.step();
        switch (random.nextInt(20)) {
          case 0 -> kept.context(randomEventWriter.context);
          case 1 -> kept.dump();
          default -> {} // The views become outdated.
        }
      }
      try (var rebuilt = views("rebuilt.db")) {
        assertThat(kept.dump()).isEqualTo(rebuilt.dump());
        assertThat(kept.dump()).contains("rewound=1", "status=failed", "deletes=1", "edit=");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void what_counts_is_what_a_walk_back_through_the_log_finds(long seed) { // SESSION-54, SESSION-55
    var randomEventWriter = eventWriters(new Random(seed), 1, true).getFirst();
    try (var views = views("views.db")) {
      for (var i = 0; i < 40; i++) {
        for (var j = 0; j < 15; j++) {
          randomEventWriter.step();
        }
        var counted = counted();
        assertThat(views.messages(C, 0, 1000).items())
            .extracting(m -> m.messageId().value() + ": " + m.content())
            .containsExactlyElementsOf(said(new LinkedHashMap<>(), counted));
        assertThat(views.usage(C).stream().mapToLong(UsageView::calls).sum())
            .isEqualTo(counted.stream().filter(e -> e.event() instanceof Usage).count());
        assertThat(views.context(C).messageCount())
            .isEqualTo(views.messages(C, 0, 1000).items().size());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void a_snapshot_at_any_position_equals_a_fold_of_the_log_up_to_there(long seed) {
    var randomEventWriter = eventWriters(new Random(seed), 1, true).getFirst().withoutCorrections();
    for (var i = 0; i < 40; i++) {
      randomEventWriter.step();
    }
    try (var views = views("views.db")) {
      for (var entry : entries()) {
        var at = entry.position();
        try (var prefix =
            TestViews.open(folder.resolve("prefix" + at + ".db"), new PrefixLog(log, at))) {
          var contextSnapshot = views.snapshot(C, at, 5);
          assertThat(json(contextSnapshot)).isEqualTo(json(prefix.snapshot(C, null, 5)));
          assertThat(contextSnapshot.position()).isEqualTo(at);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22, 23})
  void a_snapshot_of_the_past_shows_messages_as_they_were_corrected_since(long seed) {
    var randomEventWriter = eventWriters(new Random(seed), 1, true).getFirst();
    for (var i = 0; i < 70; i++) {
      randomEventWriter.step();
    }
    try (var views = views("views.db")) {
      for (var entry : entries()) {
        var at = entry.position();
        var contextSnapshot = views.snapshot(C, at, 1000);
        var expected = said(new LinkedHashMap<>(), counted(at.seq()));
        assertThat(
                contextSnapshot.messages().stream()
                    .map(m -> m.messageId().value() + ": " + m.content())
                    .toList())
            .isEqualTo(expected);
        assertThat(contextSnapshot.context().messageCount()).isEqualTo(expected.size());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {31, 32})
  void a_snapshot_and_the_events_after_it_are_the_whole(long seed) { // CORE-9
    var randomEventWriter = eventWriters(new Random(seed), 1, false).getFirst();
    for (var i = 0; i < 80; i++) {
      randomEventWriter.step();
    }
    try (var views = views("views.db")) {
      var whole = said(new LinkedHashMap<>(), entries());
      for (var entry : entries()) {
        var contextSnapshot = views.snapshot(C, entry.position(), 1000);
        var after = log.read(C, entry.position(), Integer.MAX_VALUE);
        var messages = new LinkedHashMap<MessageId, String>();
        contextSnapshot.messages().forEach(m -> messages.put(m.messageId(), m.content()));
        assertThat(said(messages, after)).isEqualTo(whole);
        contextSnapshot.partialTexts().forEach(text -> assertContinues(text, after));
      }
    }
  }

  @Test
  void a_story_has_unfinished_text_somewhere() {
    var randomEventWriter = eventWriters(new Random(41), 1, false).getFirst();
    var found = 0;
    try (var views = views("views.db")) {
      for (var i = 0; i < 80; i++) {
        randomEventWriter.step();
        found += views.snapshot(C, null, 10).partialTexts().size();
      }
    }
    assertThat(found).isPositive();
  }

  /// Checks that the snapshot's text and the deltas after it add up to the complete block.
  private static void assertContinues(PartialText partial, List<Entry> after) {
    var text = new StringBuilder(partial.text());
    assertThat(partial.text()).isNotEmpty();
    for (var entry : after) {
      if (partial.taskId().equals(entry.taskId())) {
        switch (entry.event()) {
          case ContentDelta delta when partial.blockId().equals(delta.blockId()) ->
              text.append(delta.delta());
          case ContentComplete complete when partial.blockId().equals(complete.blockId()) ->
              assertThat(text.toString()).isEqualTo(complete.content());
          default -> {} // Another block, or no text.
        }
      }
    }
  }

  private List<Entry> counted() {
    return counted(Long.MAX_VALUE);
  }

  /// Returns the entries that are active when `last` is the newest, by walking back and jumping at
  /// every rewind, and all corrections of messages.
  private List<Entry> counted(long last) {
    var all = entries();
    var counted = new ArrayDeque<Entry>();
    var limit = last;
    for (var entry : all.reversed()) {
      if (entry.event() instanceof MessageUpdated || entry.event() instanceof MessageDeleted) {
        counted.addFirst(entry);
      } else if (entry.position().seq() <= limit) {
        counted.addFirst(entry);
        if (entry.event() instanceof ContextRewound rewound) {
          limit = rewound.toSeq();
        }
      }
    }
    return List.copyOf(counted);
  }

  private static List<String> said(Map<MessageId, String> messages, List<Entry> entries) {
    for (var entry : entries) {
      switch (entry.event()) {
        case Message said -> messages.put(said.messageId(), said.content());
        case MessageUpdated edit ->
            messages.computeIfPresent(edit.messageId(), (_, _) -> edit.content());
        case MessageDeleted deleted -> messages.remove(deleted.messageId());
        default -> {} // Not a message.
      }
    }
    return messages.entrySet().stream().map(m -> m.getKey().value() + ": " + m.getValue()).toList();
  }

  private static String json(ContextSnapshot contextSnapshot) {
    return new String(Json.bytes(contextSnapshot), StandardCharsets.UTF_8);
  }
}
