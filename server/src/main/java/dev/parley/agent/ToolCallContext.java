package dev.parley.agent;

import dev.parley.log.ContextState;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Kind;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.task.TaskRun;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolContext.ToolThought;
import dev.parley.tool.ToolQuestion;
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
final class ToolCallContext implements ToolContext {

  /// How often a call may report progress; further reports are dropped.
  static final int PROGRESS_MAX = 1_000;

  private final TaskRun taskRun;
  private final QuestionFactory questionFactory;
  private final ThoughtCounter thoughtCounter;
  private final ToolCall call;
  private final Optional<ToolAnswer> answer;
  private double progress;
  private int progressReports;
  private PlatformThreads.@Nullable RunPermit runPermit;

  ToolCallContext(
      TaskRun taskRun,
      QuestionFactory questionFactory,
      ThoughtCounter thoughtCounter,
      ToolCallHistory story) {
    this.thoughtCounter = thoughtCounter;
    this.taskRun = taskRun;
    this.questionFactory = questionFactory;
    this.call = story.call();
    this.answer =
        story
            .question()
            .filter(question -> question.purpose() == QuestionPurpose.NEED)
            .map(TaskQuestion::answer);
    this.progress = story.progress();
  }

  /// The same call, which now has this place.
  ToolCallContext withPlace(PlatformThreads.RunPermit newPlace) {
    runPermit = newPlace;
    return this;
  }

  @Override
  public Path workingDirectory() {
    return taskRun.workingDirectory();
  }

  @Override
  public ContextId context() {
    return taskRun.context();
  }

  @Override
  public String owner() {
    return taskRun.owner();
  }

  @Override
  public ToolCallId call() {
    return call.id();
  }

  @Override
  public String key() {
    return TaskOutput.idempotencyKey(taskRun, call.id());
  }

  @Override
  public Optional<ToolAnswer> answer() {
    return answer;
  }

  @Override
  public ToolAnswer ask(ToolQuestion toolQuestion) throws InterruptedException {
    var asked = questionFactory.need(call, toolQuestion, QuestionPurpose.LIVE);
    if (runPermit != null) {
      runPermit.yieldToOthers();
    }
    return taskRun
        .ask(asked)
        .map(ToolAnswer::of)
        .orElseGet(() -> new ToolAnswer.Lapsed("no answer arrived in time"));
  }

  @Override
  public void progress(double now, @Nullable String message, @Nullable ObjectNode metadata) {
    if (now >= progress && now <= 1 && progressReports++ < PROGRESS_MAX) {
      progress = now;
      emit(_ -> new ToolProgress(call.id(), now, message, metadata));
    }
  }

  @Override
  public void reportThought(ToolThought toolThought) {
    var metadata = toolThought.metadata().put("toolCallId", call.id().value());
    emit(
        _ ->
            new ThoughtStream(
                taskRun.sources().thoughtId(),
                toolThought.type(),
                toolThought.verbosity(),
                toolThought.content(),
                thoughtCounter.next(),
                metadata,
                toolThought.visibility()));
  }

  @Override
  public int write(ArtifactId artifact, boolean first, ArtifactPiece artifactPiece) {
    // If the decision runs several times, the last run is the one that was appended.
    var version = new AtomicInteger();
    emit(
        state -> {
          var head = state.artifact(artifact);
          version.set(first || head.isEmpty() ? state.nextVersion(artifact) : head.get().version());
          var event = artifactPiece.of(version.get());
          if (head.isPresent() && head.get().kind() != Kind.of(event)) {
            throw new Rejection.Invalid(
                artifact + " is already the name of an artifact of another kind");
          }
          return event;
        });
    return version.get();
  }

  private void emit(Function<ContextState, Event> decide) {
    taskRun.emit(
        state -> {
          var task = state.openTask(taskRun.origin().taskId());
          if (task.isEmpty() || !task.get().openCalls().containsKey(call.id())) {
            throw new Rejection.Conflict("tool-ended", "the call has ended: " + call.id());
          }
          return List.of(decide.apply(state));
        });
  }
}
