package dev.parley.agent;

import dev.parley.agent.CallStory.Purpose;
import dev.parley.log.ContextState;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.task.Run;
import dev.parley.tool.Answer;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Question;
import dev.parley.tool.Thought;
import dev.parley.tool.ToolContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The context of one tool call. Everything that the tool writes is rejected once the call has
/// ended.
///
/// Used only by the call's thread.
final class CallContext implements ToolContext {

  /// How often a call may report progress; further reports are dropped.
  static final int PROGRESS_MAX = 1_000;

  private final Run run;
  private final Questions questions;
  private final Thoughts thoughts;
  private final ToolCall call;
  private final Optional<Answer> answer;
  private double progress;
  private int told;
  private PlatformThreads.@Nullable Place place;

  CallContext(Run run, Questions questions, Thoughts thoughts, CallStory story) {
    this.thoughts = thoughts;
    this.run = run;
    this.questions = questions;
    this.call = story.call();
    this.answer =
        story
            .question()
            .filter(question -> question.purpose() == Purpose.NEED)
            .map(CallStory.Question::answer);
    this.progress = story.progress();
  }

  /// The same call, which now has this place.
  CallContext at(PlatformThreads.Place newPlace) {
    place = newPlace;
    return this;
  }

  @Override
  public Path workingDirectory() {
    return run.workingDirectory();
  }

  @Override
  public ContextId context() {
    return run.context();
  }

  @Override
  public String owner() {
    return run.owner();
  }

  @Override
  public ToolCallId call() {
    return call.id();
  }

  @Override
  public String key() {
    return Results.key(run, call);
  }

  @Override
  public Optional<Answer> answer() {
    return answer;
  }

  @Override
  public Answer ask(Question question) throws InterruptedException {
    var asked = questions.need(call, question, Purpose.LIVE);
    if (place != null) {
      place.yieldToOthers();
    }
    return run.ask(asked)
        .map(Answer::of)
        .orElseGet(() -> new Answer.Lapsed("no answer arrived in time"));
  }

  @Override
  public void progress(double now, @Nullable String message, @Nullable ObjectNode metadata) {
    if (now >= progress && now <= 1 && told++ < PROGRESS_MAX) {
      progress = now;
      emit(_ -> new ToolProgress(call.id(), now, message, metadata));
    }
  }

  @Override
  public void think(Thought thought) {
    var metadata = thought.metadata().put("toolCallId", call.id().value());
    emit(
        _ ->
            new ThoughtStream(
                run.sources().thoughtId(),
                thought.type(),
                thought.verbosity(),
                thought.content(),
                thoughts.next(),
                metadata,
                thought.visibility()));
  }

  @Override
  public int write(ArtifactId artifact, boolean first, Piece piece) {
    // If the decision runs several times, the last run is the one that was appended.
    var version = new AtomicInteger();
    emit(
        state -> {
          var head = state.artifact(artifact);
          version.set(first || head.isEmpty() ? state.nextVersion(artifact) : head.get().version());
          var event = piece.of(version.get());
          if (head.isPresent() && head.get().kind() != event.kind()) {
            throw new Rejection.Invalid(
                artifact + " is already the name of an artifact of another kind");
          }
          return event;
        });
    return version.get();
  }

  private void emit(Function<ContextState, Event> decide) {
    run.emit(
        state -> {
          var task = state.openTask(run.origin().taskId());
          if (task.isEmpty() || !task.get().openCalls().containsKey(call.id())) {
            throw new Rejection.Conflict("tool-ended", "the call has ended: " + call.id());
          }
          return List.of(decide.apply(state));
        });
  }
}
