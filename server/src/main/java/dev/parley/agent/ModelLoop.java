package dev.parley.agent;

import dev.parley.model.Prompt;
import dev.parley.model.Prompt.Part;
import dev.parley.model.Prompt.ToolDescription;
import dev.parley.model.Reply;
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
import dev.parley.task.Limits;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.tool.PlatformThreads;
import dev.parley.tool.Tool;
import dev.parley.vault.SignInDesk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An agent that calls a model, runs the tools that it requests, and repeats this until there is an
/// answer.
///
/// The next step depends only on the log, see [Story]: a task that was parked, or interrupted by a
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
  public record Parts(
      Memory memory,
      Coordinators coordinators,
      Limits limits,
      SignInDesk signIns,
      PlatformThreads threads) {

    /// The dependencies of loops whose tools need no credentials.
    public Parts(Memory memory, Coordinators coordinators, Limits limits) {
      this(memory, coordinators, limits, SignInDesk.bare(), new PlatformThreads());
    }
  }

  private final AgentType type;
  private final Parts parts;
  private final @Nullable ObjectNode spawned;

  public ModelLoop(AgentType type, Parts parts) {
    this(type, parts, null);
  }

  /// A loop that only delegates, so that its prompt has no history. `spawned` is the metadata of
  /// its subtasks.
  public ModelLoop(AgentType type, Parts parts, @Nullable ObjectNode spawned) {
    this.type = type;
    this.parts = parts;
    this.spawned = spawned;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.of(type.model().name());
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    run.closeBlocks();
    var tools = tools(run);
    var thoughts = new Thoughts();
    var calling =
        new Calls.Parts(
            tools,
            type.policy(),
            parts.coordinators(),
            new Questions(run, parts.limits().inputTimeout(), parts.signIns()),
            thoughts,
            new Spawns(run, spawned),
            parts.threads());
    try (var pen = new Pen(run);
        var calls = new Calls(run, calling)) {
      return new Work(run, pen, calls, thoughts, tools).go();
    }
  }

  private Map<String, Tool> tools(Run run) throws InterruptedException {
    var tools = new LinkedHashMap<String, Tool>();
    type.toolbox().tools(run.owner()).forEach(tool -> tools.put(tool.name(), tool));
    ClientTools.of(run.created()).forEach(tool -> tools.putIfAbsent(tool.name(), tool));
    return tools;
  }

  /// The run of one task through the loop. Not thread-safe.
  private final class Work {
    private final Run run;
    private final Pen pen;
    private final Calls calls;
    private final Thoughts thoughts;
    private final List<ToolDescription> tools;
    private @Nullable List<Part> remembered;
    private final Story story = new Story();

    Work(Run run, Pen pen, Calls calls, Thoughts thoughts, Map<String, Tool> tools) {
      this.thoughts = thoughts;
      this.run = run;
      this.pen = pen;
      this.calls = calls;
      this.tools =
          tools.values().stream()
              .filter(Tool::offered)
              .map(tool -> new ToolDescription(tool.name(), tool.description(), tool.schema()))
              .toList();
    }

    Outcome go() throws InterruptedException {
      story.read(run.news());
      thoughts.atLeast(story.thoughts());
      while (true) {
        if (!story.calls().isEmpty()) {
          var parked = calls.advance(story);
          if (parked.isPresent()) {
            return parked.get();
          }
        } else if (story.answered()) {
          return new Outcome.Completed(story.answer());
        } else {
          var failed = exhausted();
          if (failed == null) {
            failed = ask();
          }
          if (failed != null) {
            return failed;
          }
        }
      }
    }

    /// The limit that the task has reached, or null.
    private Outcome.@Nullable Failed exhausted() {
      var limits = parts.limits().loop();
      if (story.failedTurns() >= limits.maxFailedTurns()) {
        var message = "no tool worked " + story.failedTurns() + " turns in a row";
        return new Outcome.Failed(ErrorCode.TOOL_FAILED, message, false);
      }
      if (story.nextIteration() > limits.maxTurns()) {
        var message = "the task was not done after " + limits.maxTurns() + " turns";
        return new Outcome.Failed(ErrorCode.LIMIT, message, false);
      }
      if (story.tokens() >= limits.maxTokens()) {
        var message = "the task was not done after " + story.tokens() + " tokens";
        return new Outcome.Failed(ErrorCode.LIMIT, message, false);
      }
      if (story.attempts() >= ATTEMPTS_MAX) {
        var message = "the model call was interrupted " + story.attempts() + " times";
        return new Outcome.Failed(ErrorCode.INTERRUPTED, message, true);
      }
      return null;
    }

    /// Calls the model for the next turn. Returns the failure, or null.
    private Outcome.@Nullable Failed ask() throws InterruptedException {
      var iteration = story.nextIteration();
      var replaces = story.cut();
      var prompt = prompt();
      if (!announce(iteration, prompt)) {
        return null;
      }
      run.reach("model-asked");
      var scribe = new Scribe(run, pen, thoughts, type.model().name(), replaces, about());
      switch (reply(prompt, scribe)) {
        case Reply.Failed(var code, var message, var retryable, var usage) -> {
          scribe.cutOff();
          pen.flush();
          if (usage != null) {
            run.emit(List.of(usage));
          }
          return new Outcome.Failed(code, message, retryable);
        }
        case Reply.Answered answer -> {
          var excess = excess(answer.calls());
          if (excess != null) {
            pen.flush();
            run.emit(List.of(answer.usage()));
            return new Outcome.Failed(ErrorCode.LIMIT, excess, false);
          }
          scribe.finish(answer, distinct(answer.calls()), iteration);
          run.reach("turn-durable");
        }
      }
      story.read(run.news());
      return null;
    }

    private Reply reply(Prompt prompt, Scribe scribe) throws InterruptedException {
      try {
        return type.model().ask(prompt, scribe);
      } catch (Rejection.TooLarge flood) {
        return new Reply.Failed(ErrorCode.LIMIT, String.valueOf(flood.getMessage()), false);
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
      if (remembered == null) {
        // Read late: most calls of an agent that waits for others end without a model call.
        remembered =
            spawned == null
                ? new Compactor(parts.memory()).recall(run, type.model())
                : parts.memory().recall(run, List.of());
      }
      var told = new ArrayList<>(remembered);
      told.addAll(story.parts());
      told.addAll(story.unheard());
      var fitting = Budget.fit(told, parts.limits().loop().historyTokens());
      return new Prompt(type.instructions(), fitting, tools, null);
    }

    /// Appends that the model is about to be called. False if there are new entries that are not in
    /// the prompt; then they are read first.
    private boolean announce(int iteration, Prompt prompt) {
      var call =
          new InternalLlmCall(iteration, type.model().name(), prompt.parts().size(), tools.size());
      if (run.emitUnlessNews(announced(call))) {
        story.read(run.news());
        return true;
      }
      story.read(run.news());
      return false;
    }

    /// The model call, and the state of the loop before it.
    private List<Event> announced(InternalLlmCall call) {
      var events = new ArrayList<Event>();
      var returned = story.returned();
      if (!returned.isEmpty() && story.attempts() == 0) {
        var succeeded = returned.stream().filter(Part.Returned::success).count();
        var state =
            Json.object().put("succeeded", succeeded).put("failed", returned.size() - succeeded);
        var reasoning = "Tool calls that have ended: " + returned.size() + ".";
        events.add(
            new InternalThoughtProcess(call.iteration() - 1, Stage.POST_TOOL, reasoning, state));
      }
      events.add(call);
      var state =
          Json.object()
              .put("attempt", story.attempts() + 1)
              .put("tokensUsed", story.tokens())
              .put("failedTurns", story.failedTurns());
      events.add(
          new InternalThoughtProcess(
              call.iteration(), Stage.PRE_LLM, "The model is asked next.", state));
      return events;
    }

    /// The call that thoughts of the next turn relate to: the one that returned last.
    private @Nullable ToolCallId about() {
      return story.returned().isEmpty() ? null : story.returned().getLast().call();
    }

    /// Some models number the calls of every turn from 0; such calls get new ids.
    private List<ToolCall> distinct(List<ToolCall> wanted) {
      var seen = new HashSet<ToolCallId>();
      return wanted.stream()
          .map(
              call ->
                  seen.add(call.id()) && !story.used(call.id())
                      ? call
                      : new ToolCall(run.sources().toolCallId(), call.name(), call.arguments()))
          .toList();
    }
  }
}
