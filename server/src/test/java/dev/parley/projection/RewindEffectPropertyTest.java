package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.runtime.ClockTime;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// State and artifacts after random events with nested rewinds and forks, compared with a simple
/// reading of the log (SESSION-51 to SESSION-55).
class RewindEffectPropertyTest {

  private static final ContextId C = new ContextId("c0");

  @TempDir Path folder;
  private final AtomicLong millis = new AtomicLong();
  private final MemoryLog log =
      new MemoryLog(new ClockTime(() -> Instant.ofEpochMilli(millis.addAndGet(7))));
  private final Map<Long, Integer> versions = new HashMap<>();

  private List<Entry> entries(ContextId context, long last) {
    return log.read(context, Position.START, Integer.MAX_VALUE).stream()
        .filter(entry -> entry.position().seq() <= last)
        .toList();
  }

  private List<Entry> counted(ContextId context, long last) {
    var counted = new ArrayDeque<Entry>();
    var limit = Long.MAX_VALUE;
    for (var entry : entries(context, last).reversed()) {
      if (entry.position().seq() <= limit) {
        counted.addFirst(entry);
        if (entry.event() instanceof ContextRewound rewound) {
          limit = rewound.toSeq();
        }
      }
    }
    return List.copyOf(counted);
  }

  private ObjectNode state(ContextId context, long last) {
    var keys = new TreeMap<String, JsonNode>();
    var counted = Set.copyOf(counted(context, last));
    for (var entry : entries(context, last)) {
      if (entry.event() instanceof StateUpdated(var delta, _)) {
        for (var change : delta.properties()) {
          if (counted.contains(entry) || change.getKey().startsWith("user:")) {
            keys.put(change.getKey(), change.getValue());
          }
        }
      }
    }
    keys.values().removeIf(JsonNode::isNull);
    var state = Json.object();
    keys.forEach(state::set);
    return state;
  }

  /// Returns the version of each artifact, and records which version every write began.
  private Map<String, Integer> artifacts(ContextId context, long last) {
    var highest = new HashMap<ArtifactId, Integer>();
    var written = new HashMap<ArtifactId, Boolean>();
    var counted = new HashSet<>(counted(context, last));
    var now = new TreeMap<String, Integer>();
    for (var entry : entries(context, last)) {
      if (entry.event() instanceof ContextRewound) {
        written.clear();
      }
      if (entry.event() instanceof ArtifactEvent event) {
        if (ArtifactChunk.index(event) == 0 || !written.getOrDefault(event.artifactId(), false)) {
          highest.merge(event.artifactId(), 1, Integer::sum);
          written.put(event.artifactId(), true);
          versions.put(entry.position().seq(), highest.get(event.artifactId()));
          if (counted.contains(entry)) {
            now.put(event.artifactId().value(), highest.get(event.artifactId()));
          }
        }
      }
    }
    return now;
  }

  private static ObjectNode merged(ObjectNode state, ObjectNode delta) {
    var merged = ColumnValues.merged(state, delta);
    return merged == null ? Json.object() : merged;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void a_rewind_brings_back_exactly_what_was(long seed) {
    var random = new Random(seed);
    var randomEventWriter = new RandomEventWriter(log, random, C, false);
    try (var views = TestViews.open(folder.resolve("views.db"), log)) {
      for (var round = 0; round < 60; round++) {
        for (var i = 0; i < 12; i++) {
          randomEventWriter.step();
        }
        var head = log.head(C).seq();
        assertThat(views.state(C)).isEqualTo(state(C, head));
        assertThat(artifacts(views, C)).isEqualTo(artifacts(C, head));
        if (random.nextInt(3) > 0) {
          randomEventWriter.finish();
          rewind(views, 1 + random.nextLong(log.head(C).seq()));
        }
      }
    }
  }

  private void rewind(Views views, long toSeq) {
    var before = views.state(C);
    var rewindEffect = views.rewindEffect(C, toSeq);
    var rewound =
        new ContextRewound(toSeq, null, null, rewindEffect.state(), rewindEffect.artifacts());
    log.append(C, AppendGuard.none(), Decision.always(EventDraft.of(rewound)));

    var head = log.head(C).seq();
    assertThat(merged(before, rewindEffect.state()))
        .isEqualTo(views.state(C))
        .isEqualTo(state(C, head));
    var now = artifacts(C, head);
    assertThat(artifacts(views, C)).isEqualTo(now);
    for (var id : List.of("a0", "a1", "a2", "a3")) {
      var artifact = new ArtifactId(id);
      var highest =
          entries(C, head).stream()
              .filter(e -> e.event() instanceof ArtifactEvent a && a.artifactId().equals(artifact))
              .mapToInt(e -> versions.getOrDefault(e.position().seq(), 0))
              .max()
              .orElse(0);
      int next = log.inspect(C, state -> state.nextVersion(artifact));
      int current = log.inspect(C, s -> s.artifact(artifact).map(h -> h.version()).orElse(0));
      assertThat(next).isEqualTo(highest + 1);
      assertThat(current).isEqualTo(now.getOrDefault(id, 0));
    }
  }

  private static Map<String, Integer> artifacts(Views views, ContextId context) {
    var versions = new TreeMap<String, Integer>();
    for (var artifact : views.artifacts(context, null, 100).items()) {
      versions.put(artifact.artifactId().value(), artifact.version());
    }
    return versions;
  }

  private static List<String> texts(List<MessageView> messages) {
    return messages.stream()
        .map(m -> "%d %s %s %s".formatted(m.seq(), m.messageId(), m.content(), m.metadata()))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void views_of_forks_equal_those_of_the_source_as_it_was_and_can_be_rebuilt(long seed) {
    var random = new Random(seed);
    var source = C;
    var randomEventWriter = new RandomEventWriter(log, random, source, true);
    try (var views = TestViews.open(folder.resolve("views.db"), log)) {
      for (var depth = 1; depth <= 5; depth++) {
        for (var i = 0; i < 60; i++) {
          randomEventWriter.step();
        }
        var cut = 1 + random.nextLong(log.head(source).seq());
        var fork = new ContextId("fork" + depth);
        var forked = new ContextForked(source, cut, "owner", "Fork " + depth);
        log.fork(fork, forked, views.correctionsAfter(source, cut));
        assertThat(views.state(fork)).isEqualTo(state(source, cut));
        assertThat(artifacts(views, fork)).isEqualTo(artifacts(source, cut));
        var then = log.read(fork, new Position(cut, Integer.MAX_VALUE), 1).getFirst();
        assertThat(texts(views.messages(fork, 0, 1000).items()))
            .isEqualTo(texts(views.snapshot(source, Position.of(cut), 1000).messages()));
        assertThat(views.context(fork).forkedFrom())
            .isEqualTo(new ContextView.ForkedFrom(source, cut));
        assertThat(views.context(fork).createdAt()).isEqualTo(then.timestamp());
        assertThat(views.context(fork).openTasks()).isZero();
        assertThat(views.snapshot(fork, null, 10).pendingInputs()).isEmpty();
        assertThat(views.snapshot(fork, null, 10).partialTexts()).isEmpty();
        source = fork;
        randomEventWriter = new RandomEventWriter(log, random, fork, true);
      }
      try (var rebuilt = TestViews.open(folder.resolve("rebuilt.db"), log)) {
        assertThat(views.dump()).isEqualTo(rebuilt.dump());
      }
    }
  }
}
