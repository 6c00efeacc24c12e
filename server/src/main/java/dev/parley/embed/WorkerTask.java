package dev.parley.embed;

import dev.parley.agent.QuestionFactory;
import dev.parley.agent.TaskOutput;
import dev.parley.agent.TaskQuestion;
import dev.parley.agent.ThoughtCounter;
import dev.parley.auth.SignInRequests;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskRun;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolContext.ArtifactPiece;
import dev.parley.tool.ToolContext.ToolThought;
import dev.parley.tool.ToolQuestion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A task as a [Worker] sees it: read the prompt, send text, ask questions, delegate, write
/// artifacts.
///
/// Every method that writes something returns when it is durable. Use it only on the worker's
/// thread.
public final class WorkerTask {

  /// The result of a previous agent, where several agents work in sequence.
  public record EarlierResult(AgentTypeId agent, String output) {}

  /// Work that appears as a tool call.
  @FunctionalInterface
  public interface ToolStep {

    /// Does the work. The message of a [WorkFailed] is written as the call's error, and the
    /// exception is rethrown.
    JsonNode run() throws InterruptedException;
  }

  private final TaskRun taskRun;
  private final QuestionFactory questions;
  private final List<String> blocks = new ArrayList<>();
  private final TaskOutput output;

  WorkerTask(TaskRun taskRun, Duration patience) {
    this.taskRun = taskRun;
    this.questions = new QuestionFactory(taskRun, patience, SignInRequests.passThrough(), null);
    this.output = new TaskOutput(taskRun.sources(), new ThoughtCounter()::next);
  }

  /// The prompt of the task.
  public String prompt() {
    return taskRun.created().prompt() == null ? "" : taskRun.created().prompt();
  }

  /// The type of the task, if it has one.
  public Optional<String> taskType() {
    return Optional.ofNullable(taskRun.created().taskType());
  }

  /// The results of previous agents, oldest first; empty unless several agents work in sequence.
  public List<EarlierResult> earlierResults() {
    return taskRun.created().facts().previousResults().stream()
        .map(
            result ->
                new EarlierResult(
                    new AgentTypeId(result.path("agentId").asString()),
                    result.path("output").asString("")))
        .toList();
  }

  /// The folder that the task may work in.
  public Path workingDirectory() {
    return taskRun.workingDirectory();
  }

  /// True if the task must stop. Its thread is interrupted as well, so that only loops that never
  /// block need this.
  public boolean cancelled() {
    return taskRun.cancelled();
  }

  /// The underlying run: ids, the deadline, and any event.
  public TaskRun run() {
    return taskRun;
  }

  /// Sends a piece of the answer, which readers see immediately.
  public void sendText(String piece) {
    if (piece.isEmpty()) {
      return;
    }
    output.appendText(piece);
    taskRun.emit(output.take());
  }

  /// Ends the current block of text, if there is one; further text starts a new block.
  private void endBlock() {
    if (output.hasOpenBlock()) {
      output.endBlock();
      taskRun.emit(output.take());
      blocks.add(output.lastText());
    }
  }

  /// All text that was sent.
  String answer() {
    endBlock();
    return blocks.stream().filter(one -> !one.isBlank()).collect(Collectors.joining("\n\n"));
  }

  /// Reports progress as a message.
  public void progress(String message) {
    taskRun.emit(List.of(new TaskStatus(TaskState.WORKING, message, null)));
  }

  /// Reports progress as a message and a percentage from 0 to 100.
  public void progress(String message, int percentage) {
    var metadata = StatusFacts.ofPercentage(Math.clamp(percentage, 0, 100));
    taskRun.emit(List.of(new TaskStatus(TaskState.WORKING, message, metadata)));
  }

  /// Publishes a thought.
  public void think(String reasoning) {
    think(new ToolThought(ThoughtType.REASONING, Verbosity.NORMAL, reasoning, null));
  }

  /// Publishes a thought.
  public void think(ToolThought toolThought) {
    var metadata = toolThought.metadata();
    output.addThought(
        toolThought.type(),
        toolThought.verbosity(),
        toolThought.content(),
        metadata.isEmpty() ? null : metadata,
        toolThought.visibility());
    taskRun.emit(output.take());
  }

  /// Runs a step that appears as a tool call, and returns its result.
  public JsonNode call(String tool, ObjectNode arguments, ToolStep toolStep)
      throws InterruptedException {
    endBlock();
    var call = taskRun.sources().toolCallId();
    var metadata = ToolCallFacts.ofStart("local", false, null);
    var key = TaskOutput.idempotencyKey(taskRun, call);
    taskRun.emit(List.of(new ToolStart(call, tool, arguments, metadata, 1, key, null, null)));
    try {
      var result = toolStep.run();
      var shown = TaskOutput.truncated(result);
      TaskOutput.emit(
          taskRun, List.of(new ToolComplete(call, tool, true, shown, null, null, null, null)));
      return result;
    } catch (WorkFailed failed) {
      var error = String.valueOf(failed.getMessage());
      TaskOutput.emit(
          taskRun, List.of(new ToolComplete(call, tool, false, null, error, null, null, null)));
      throw failed;
    }
  }

  /// Asks a person a question, and waits for the answer. Meanwhile the task's clock is paused, and
  /// another task may use its slot.
  public ToolAnswer ask(ToolQuestion toolQuestion) throws InterruptedException {
    endBlock();
    var before = taskRun.inspect(state -> state.head());
    var asked = questions.question(toolQuestion);
    taskRun.emit(List.of(asked));
    return Objects.requireNonNull(TaskQuestion.await(taskRun, asked, before).answer());
  }

  /// Delegates work to another agent, waits, and returns its answer.
  ///
  /// @throws WorkFailed if the agent did not succeed
  /// @throws Rejection.Invalid if there is no such agent, or a limit is reached
  public String delegate(DelegatedWork work) throws InterruptedException {
    var end = delegate(List.of(work)).getFirst();
    if (end.status() != TaskState.COMPLETED) {
      throw new WorkFailed(
          work.agent()
              + " "
              + end.status().wire()
              + (end.error() == null ? "" : ": " + end.error()));
    }
    return end.result() == null ? "" : end.result();
  }

  /// Delegates work to several agents in parallel, waits for all, and returns their ends in the
  /// same order.
  ///
  /// @throws Rejection.Invalid if there is no such agent, or a limit is reached
  public List<SubtaskComplete> delegate(List<DelegatedWork> work) throws InterruptedException {
    if (work.isEmpty()) {
      return List.of();
    }
    endBlock();
    return new DelegationCall(taskRun, work).await();
  }

  /// Writes a text file as an artifact and returns its version; writing the same id again creates a
  /// new version.
  public int writeFile(ArtifactId id, String name, String mimeType, String content) {
    return write(
        id,
        true,
        version ->
            new FileWrite(
                id, content, 0, true, name, null, mimeType, Encoding.UTF_8, null, version));
  }

  /// Writes a data artifact and returns its version; writing the same id again creates a new
  /// version.
  public int writeData(ArtifactId id, String name, ObjectNode data) {
    return write(id, true, version -> new DataWrite(id, name, null, data, null, version));
  }

  /// Writes a piece of an artifact and returns its version; `first` starts a new version.
  public int write(ArtifactId id, boolean first, ArtifactPiece artifactPiece) {
    // If the decision runs several times, the last run is the one that was appended.
    var version = new AtomicInteger();
    taskRun.emit(
        state -> {
          var head = state.artifact(id);
          version.set(first || head.isEmpty() ? state.nextVersion(id) : head.get().version());
          var event = artifactPiece.of(version.get());
          if (head.isPresent() && head.get().kind() != Kind.of(event)) {
            throw new Rejection.Invalid(id + " is the name of an artifact of another kind");
          }
          return List.of(event);
        });
    return version.get();
  }
}
