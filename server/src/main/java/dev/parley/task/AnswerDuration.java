package dev.parley.task;

import dev.parley.log.ContextState.OpenInput;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Adds to the metadata of answers how long their questions were open. Thread-safe.
final class AnswerDuration {

  private static final int PAGE = 100;

  private final EventLog log;
  private final TaskSources taskSources;

  AnswerDuration(EventLog log, TaskSources taskSources) {
    this.log = log;
    this.taskSources = taskSources;
  }

  /// The metadata with `duration` in milliseconds. Unchanged if the question is not open any more,
  /// or if an earlier version of Parley stored it without its position.
  @Nullable ObjectNode withDuration(
      @Nullable ObjectNode metadata, ContextId context, InputId input) {
    var open = log.inspect(context, state -> state.openInput(input));
    var asked = open.flatMap(question -> askedAt(context, question));
    if (asked.isEmpty()) {
      return metadata;
    }
    var waited = Duration.between(asked.get(), taskSources.time().instant()).toMillis();
    var about = metadata == null ? Json.object() : metadata.deepCopy();
    return about.put("duration", Math.max(0, waited));
  }

  private Optional<Instant> askedAt(ContextId context, OpenInput open) {
    var seq = open.askedSeq();
    if (seq == null) {
      return Optional.empty();
    }
    // Internal events may lie between the previous public event and the question.
    var position = Position.of(seq - 1);
    for (var page = log.read(context, position, PAGE);
        !page.isEmpty();
        page = log.read(context, position, PAGE)) {
      var found = page.stream().filter(entry -> entry.position().seq() >= seq).findFirst();
      if (found.isPresent()) {
        return found.filter(entry -> entry.event() instanceof InputRequired).map(Entry::timestamp);
      }
      position = page.getLast().position();
    }
    return Optional.empty();
  }
}
