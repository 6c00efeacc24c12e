package dev.parley.api.agui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.stream.FrameCursor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// For random threads, the events follow the protocol, and a reader can resume after any frame.
class AgUiProjectionPropertyTest {

  private static final int THREAD_COUNT = 200;

  /// A frame as it is sent.
  private record Frame(String id, String data) {
    JsonNode json() {
      return Json.mapper().readTree(data);
    }
  }

  @Test
  void the_events_of_any_thread_keep_to_the_protocol() {
    var seen = new HashSet<String>();
    var outcomes = new HashSet<String>();
    LongStream.range(0, THREAD_COUNT)
        .forEach(
            seed -> {
              var events =
                  frames(new RandomThread(seed), start()).stream().map(Frame::json).toList();
              AgUiRules.check(events, true);
              events.forEach(event -> seen.add(event.path("type").asString()));
              events.forEach(
                  event -> outcomes.add(event.path("outcome").path("type").asString("")));
            });

    var all = Arrays.stream(AgUiEvent.values()).map(AgUiEvent::name).collect(Collectors.toSet());
    // Only readers that join later receive these.
    all.removeAll(Set.of("STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"));
    assertThat(seen).containsExactlyInAnyOrderElementsOf(all);
    assertThat(outcomes).contains("success", "interrupt", "cancelled");
  }

  @Test
  void a_reader_who_comes_back_after_any_frame_gets_exactly_the_rest() {
    for (var seed = 0; seed < THREAD_COUNT / 10; seed++) {
      var thread = new RandomThread(seed);
      var all = frames(thread, start());
      assertThat(all.stream().map(Frame::id).distinct()).hasSize(all.size());
      for (var i = 0; i < all.size(); i++) {
        var rest = frames(thread, FrameCursor.parse(all.get(i).id()));
        assertThat(rest).as("seed %d, after %d", seed, i).isEqualTo(all.subList(i + 1, all.size()));
      }
    }
  }

  @Test
  void a_reader_who_comes_late_gets_snapshots_and_then_what_others_get() {
    for (var seed = 0; seed < THREAD_COUNT / 10; seed++) {
      var thread = new RandomThread(seed);
      for (var at = 1; at <= thread.entries.size(); at++) {
        var agUiProjection = narrator(new ThreadTranscript());
        thread.entries.subList(0, at).forEach(agUiProjection::apply);
        var told = new ArrayList<JsonNode>(agUiProjection.snapshots(Json.object(), List.of()));
        thread
            .entries
            .subList(at, thread.entries.size())
            .forEach(e -> told.addAll(agUiProjection.apply(e)));
        AgUiRules.check(told, true);
      }
    }
  }

  private static FrameCursor start() {
    return FrameCursor.of(Position.START);
  }

  private static AgUiProjection narrator(@Nullable ThreadTranscript threadTranscript) {
    return new AgUiProjection(RandomThread.THREAD, null, threadTranscript);
  }

  private static List<Frame> frames(RandomThread thread, FrameCursor cursor) {
    var agUiStream =
        new AgUiStream(
            narrator(null),
            new AgUiStream.AgUiStreamRange.AfterCursor(cursor, false, AgUiVersion.newest()),
            List.of(),
            cursor.place());
    var text = new StringBuilder();
    for (Entry entry : thread.entries) {
      text.append(new String(agUiStream.frames(entry), StandardCharsets.UTF_8));
    }
    return parse(text.toString());
  }

  /// Each frame has two lines and an empty line.
  private static List<Frame> parse(String text) {
    var frames = new ArrayList<Frame>();
    var lines = text.lines().toList();
    for (var i = 0; i + 1 < lines.size(); i += 3) {
      frames.add(new Frame(lines.get(i).substring(4), lines.get(i + 1).substring(6)));
    }
    return frames;
  }
}
