package dev.parley.agent;

import dev.parley.auth.SignInRequests;
import dev.parley.control.Budgets;
import dev.parley.model.ModelReply;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.model.Prompt.ToolDescription;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.InternalThoughtProcess;
import dev.parley.protocol.ThoughtEvent.Stage;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.Agent;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// An agent that calls a model, runs the tools that it requests, and repeats this until there is an
/// answer.
///
/// The next step depends only on the log, see [ModelTaskHistory]: a task that was parked, or interrupted by a
/// crash, continues with the same code that runs it the first time.
public final class ModelLoop implements Agent {

  /// How often a model call is repeated if the server stops or crashes each time before the answer
  /// is complete.
  private static final int ATTEMPTS_MAX = 3;

  /// The maximum number of calls that a model may request in one turn, and the maximum size of
  /// their arguments.
  static final int CALLS_MAX = 100;

  static final int ARGUMENTS_BYTES_MAX = 4 << 20;

  /// The dependencies that all loops share.
  public record ModelLoopDependencies(
      ConversationMemory memory,
      ParentAgentQuestions parentAgents,
      TaskLimits limits,
      SignInRequests signIns,
      PlatformThreads threads,
      UntrustedPolicy untrusted) {

    /// The dependencies of loops whose tools need no credentials.
    public ModelLoopDependencies(
        ConversationMemory memory, ParentAgentQuestions parentAgents, TaskLimits limits) {
      this(
          memory,
          parentAgents,
          limits,
          SignInRequests.passThrough(),
          new PlatformThreads(),
          UntrustedPolicy.ALLOW);
    }
  }

  private final ModelAgentType type;
  private final ModelLoopDependencies dependencies;

  public ModelLoop(ModelAgentType type, ModelLoopDependencies modelLoopDependencies) {
    this.type = type;
    this.dependencies = modelLoopDependencies;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean beginsWithOutput() {
    return true;
  }

  @Override
  public boolean checksBudgets() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.of(type.model().name());
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    taskRun.closeBlocks();
    // First, because it begins the task if the tools or the history take long.
    try (var eventBatcher = new EventBatcher(taskRun)) {
      var tools = tools(taskRun);
      var thoughtCounter = new ThoughtCounter();
      var calling =
          new ToolCalls.ToolCallsDependencies(
              tools,
              type.policy(),
              dependencies.parentAgents(),
              new QuestionFactory(
                  taskRun, dependencies.limits().inputTimeout(), dependencies.signIns(), null),
              thoughtCounter,
              new SubtaskCalls(taskRun),
              dependencies.threads(),
              new UntrustedText(
                  dependencies.memory().log(),
                  taskRun.context(),
                  dependencies.untrusted(),
                  tools.values()));
      try (var toolCalls = new ToolCalls(taskRun, calling)) {
        return new LoopRun(taskRun, eventBatcher, toolCalls, thoughtCounter, tools).run();
      }
    }
  }

  private Map<String, Tool> tools(TaskRun taskRun) throws InterruptedException {
    var tools = new LinkedHashMap<String, Tool>();
    type.toolbox().tools(taskRun.owner()).forEach(tool -> tools.put(tool.name(), tool));
    ClientTools.of(taskRun.created()).forEach(tool -> tools.putIfAbsent(tool.name(), tool));
    return tools;
  }

  /// The run of one task through the loop. Not thread-safe.
  private final class LoopRun {
    private final TaskRun taskRun;
    private final EventBatcher batcher;
    private final ToolCalls toolCalls;
    private final ThoughtCounter thoughtCounter;
    private final Map<String, Tool> toolsByName;
    private final List<ToolDescription> tools;
    private @Nullable List<PromptPart> conversation;
    private final ModelTaskHistory taskHistory =
        new ModelTaskHistory(dependencies.untrusted().ask());

    LoopRun(
        TaskRun taskRun,
        EventBatcher eventBatcher,
        ToolCalls toolCalls,
        ThoughtCounter thoughtCounter,
        Map<String, Tool> tools) {
      this.thoughtCounter = thoughtCounter;
      this.taskRun = taskRun;
      this.batcher = eventBatcher;
      this.toolCalls = toolCalls;
      this.toolsByName = tools;
      this.tools =
          tools.values().stream()
              .filter(Tool::offered)
              .map(tool -> new ToolDescription(tool.name(), tool.description(), tool.schema()))
              .toList();
    }

    TaskOutcome run() throws InterruptedException {
      taskHistory.read(taskRun.readNewEntries());
      thoughtCounter.atLeast(taskHistory.thoughts());
      while (true) {
        if (!taskHistory.calls().isEmpty()) {
          var parked = toolCalls.advance(taskHistory);
          if (parked.isPresent()) {
            return parked.get();
          }
        } else if (taskHistory.answered()) {
          return new TaskOutcome.Completed(taskHistory.answer());
        } else {
          var pause = taskRun.controls().pause();
          if (pause.isPresent()) {
            return new TaskOutcome.Suspended(pause.get());
          }
          var failed = limitReached();
          if (failed == null) {
            failed = ask();
          }
          if (failed != null) {
            return failed;
          }
        }
      }
    }

    /// The limit or budget that the task has reached, or null.
    private TaskOutcome.@Nullable Failed limitReached() {
      var exceeded = taskRun.controls().exceeded(Budgets.WORK);
      if (exceeded.isPresent()) {
        return new TaskOutcome.Failed(ErrorCode.LIMIT, exceeded.get(), false);
      }
      taskRun.controls().budgetWarning().ifPresent(status -> taskRun.emit(List.of(status)));
      var limits = dependencies.limits().loop();
      if (taskHistory.failedTurns() >= limits.maxFailedTurns()) {
        var message = "no tool worked " + taskHistory.failedTurns() + " turns in a row";
        return new TaskOutcome.Failed(ErrorCode.TOOL_FAILED, message, false);
      }
      if (taskHistory.nextIteration() > limits.maxTurns()) {
        var message = "the task was not done after " + limits.maxTurns() + " turns";
        return new TaskOutcome.Failed(ErrorCode.LIMIT, message, false);
      }
      if (taskHistory.tokens() >= limits.maxTokens()) {
        var message = "the task was not done after " + taskHistory.tokens() + " tokens";
        return new TaskOutcome.Failed(ErrorCode.LIMIT, message, false);
      }
      if (taskHistory.attempts() >= ATTEMPTS_MAX) {
        var message = "the model call was interrupted " + taskHistory.attempts() + " times";
        return new TaskOutcome.Failed(ErrorCode.INTERRUPTED, message, true);
      }
      return null;
    }

    /// Calls the model for the next turn. Returns the failure, or null.
    private TaskOutcome.@Nullable Failed ask() throws InterruptedException {
      var iteration = taskHistory.nextIteration();
      var replaces = taskHistory.interruptedBlock();
      var prompt = prompt();
      if (!writeModelCall(iteration, prompt)) {
        return null;
      }
      taskRun.reachFailPoint("model-asked");
      var modelOutputWriter =
          new ModelOutputWriter(
              taskRun, batcher, thoughtCounter, type.model().name(), replaces, relatedCall());
      @Nullable ModelReply reply = null;
      try {
        reply = reply(prompt, modelOutputWriter);
        var failed = write(reply, modelOutputWriter, iteration);
        if (failed != null) {
          return failed;
        }
        taskRun.reachFailPoint("turn-durable");
      } catch (Rejection.Stale | InterruptedException newEntries) {
        // A message arrived just before the model call. Nothing of this turn is in the log.
        if (!batcher.resume()) {
          throw newEntries;
        }
        if (reply != null) {
          emitUsage(reply);
        }
        if (taskRun.cancelled()) {
          throw new InterruptedException();
        }
      }
      taskHistory.read(taskRun.readNewEntries());
      return null;
    }

    private void emitUsage(ModelReply reply) {
      var usage =
          switch (reply) {
            case ModelReply.ModelError error -> error.usage();
            case ModelReply.ModelAnswer answer -> answer.usage();
          };
      if (usage != null && usage.totalTokens() > 0) {
        taskRun.emit(List.of(usage));
      }
    }

    /// Writes the reply. Returns the failure, or null.
    private TaskOutcome.@Nullable Failed write(
        ModelReply reply, ModelOutputWriter modelOutputWriter, int iteration)
        throws InterruptedException {
      switch (reply) {
        case ModelReply.ModelError(var code, var message, var retryable, _) -> {
          modelOutputWriter.endFailedAttempt();
          batcher.flush();
          emitUsage(reply);
          return new TaskOutcome.Failed(code, message, retryable);
        }
        case ModelReply.ModelAnswer answer -> {
          var excess = excess(answer.calls());
          if (excess != null) {
            batcher.flush();
            emitUsage(reply);
            return new TaskOutcome.Failed(ErrorCode.LIMIT, excess, false);
          }
          var calls = withDistinctIds(answer.calls());
          var publicCalls =
              calls.stream()
                  .map(call -> PrivateArguments.publicCall(call, toolsByName.get(call.name())))
                  .toList();
          modelOutputWriter.finish(answer, calls, publicCalls, iteration);
          return null;
        }
      }
    }

    private ModelReply reply(Prompt prompt, ModelOutputWriter modelOutputWriter)
        throws InterruptedException {
      try {
        return type.model().ask(prompt, modelOutputWriter);
      } catch (Rejection.TooLarge flood) {
        return new ModelReply.ModelError(
            ErrorCode.LIMIT, String.valueOf(flood.getMessage()), false);
      }
    }

    /// Why these calls exceed a limit, or null.
    private static @Nullable String excess(List<ToolCall> wanted) {
      if (wanted.size() > CALLS_MAX) {
        return "the model asked for "
            + wanted.size()
            + " tool calls in one turn; at most "
            + CALLS_MAX
            + " are made";
      }
      var bytes = wanted.stream().mapToLong(call -> Json.bytes(call.arguments()).length).sum();
      return bytes > ARGUMENTS_BYTES_MAX
          ? "the tool calls of one turn have "
              + bytes
              + " bytes of arguments; at most "
              + ARGUMENTS_BYTES_MAX
              + " are accepted"
          : null;
    }

    private Prompt prompt() throws InterruptedException {
      if (conversation == null) {
        // Read late: most calls of an agent that waits for others end without a model call.
        conversation =
            new HistoryCompactor(dependencies.memory()).promptParts(taskRun, type.model());
      }
      var told = new ArrayList<>(conversation);
      told.addAll(taskHistory.parts());
      var fitting = PromptBudget.fit(told, dependencies.limits().loop().historyTokens());
      var instructions = dependencies.untrusted().instructions(type.instructions());
      return new Prompt(instructions, fitting, tools, null);
    }

    /// Writes that the model is about to be called: together with its first output, or before a call
    /// that is repeated, so that each attempt counts. False if there are new entries that are not in
    /// the prompt; then they are read first.
    private boolean writeModelCall(int iteration, Prompt prompt) {
      var call =
          new InternalLlmCall(iteration, type.model().name(), prompt.parts().size(), tools.size());
      var events = modelCallEvents(call);
      if (taskHistory.attempts() == 0) {
        batcher.writeModelCall(events);
        return true;
      }
      var written = taskRun.emitUnlessNewEntries(events);
      taskHistory.read(taskRun.readNewEntries());
      return written;
    }

    /// The model call, and the state of the loop before it.
    private List<Event> modelCallEvents(InternalLlmCall call) {
      var events = new ArrayList<Event>();
      var returned = taskHistory.returned();
      if (!returned.isEmpty() && taskHistory.attempts() == 0) {
        var succeeded = returned.stream().filter(PromptPart.PromptToolResult::success).count();
        var state =
            Json.object().put("succeeded", succeeded).put("failed", returned.size() - succeeded);
        var reasoning = "Tool calls that have ended: " + returned.size() + ".";
        events.add(
            new InternalThoughtProcess(call.iteration() - 1, Stage.POST_TOOL, reasoning, state));
      }
      events.add(call);
      if (call.iteration() > 1 || taskHistory.attempts() > 0) {
        // Before the first call there is nothing to report.
        var state =
            Json.object()
                .put("attempt", taskHistory.attempts() + 1)
                .put("tokensUsed", taskHistory.tokens())
                .put("failedTurns", taskHistory.failedTurns());
        events.add(
            new InternalThoughtProcess(
                call.iteration(), Stage.PRE_LLM, "The model is asked next.", state));
      }
      return events;
    }

    /// The call that thoughts of the next turn relate to: the one that returned last.
    private @Nullable ToolCallId relatedCall() {
      return taskHistory.returned().isEmpty() ? null : taskHistory.returned().getLast().call();
    }

    /// Some models number the calls of every turn from 0; such calls get new ids.
    private List<ToolCall> withDistinctIds(List<ToolCall> wanted) {
      var seen = new HashSet<ToolCallId>();
      return wanted.stream()
          .map(
              call ->
                  seen.add(call.id()) && !taskHistory.used(call.id())
                      ? call
                      : new ToolCall(taskRun.sources().toolCallId(), call.name(), call.arguments()))
          .toList();
    }
  }
}
