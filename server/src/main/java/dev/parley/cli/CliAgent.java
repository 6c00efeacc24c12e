package dev.parley.cli;

import dev.parley.agent.Memory;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.task.Agent;
import dev.parley.task.Asked;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.tool.process.Children;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An agent that runs a separate program, started anew for each task.
///
/// The log contains what the program wrote and did. The program keeps its own conversation in a
/// session, which the next task resumes. After a crash the program is gone: the agent resumes its
/// session and describes what happened. The same prompt is never sent twice.
public final class CliAgent implements Agent {

  /// Key in the metadata of a task: the settings that override the agent's configuration.
  public static final String WISHES = "cli";

  private static final int STARTS_MAX = 4;

  /// The shared dependencies of command-line agents; `patience` is how long an agent waits for the
  /// answer of a person.
  public record Parts(Children children, EventLog log, Memory memory, Duration patience) {}

  private final CliSettings settings;
  private final Parts parts;
  private final Sessions sessions;

  public CliAgent(CliSettings settings, Parts parts) {
    this.settings = settings;
    this.parts = parts;
    this.sessions = new Sessions(parts.log(), parts.memory());
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.ofNullable(settings.model());
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    var metadata = run.created().metadata();
    var wishes = metadata == null ? Json.object() : metadata.path(WISHES);
    var problem = problem(wishes);
    if (problem != null) {
      return new Outcome.Failed(ErrorCode.INVALID_INPUT, problem, false);
    }
    var mine = wished(wishes, run.workingDirectory());
    return new Work(run, mine, Dialect.of(mine)).go();
  }

  /// The reason why a task may not override these settings, or null. A task may restrict its agent.
  /// It may add arguments to the command only if the agent may do everything anyway.
  private @Nullable String problem(JsonNode wishes) {
    var honours = settings.honours();
    if (!texts(wishes.path("customArgs")).isEmpty() && !honours.contains("customArgs")) {
      return "customArgs need an agent with `permission: allow` and no `ask` or `deny` rules:"
          + " they could bypass such rules";
    }
    if (wishes.path("model").isString() && !honours.contains("model")) {
      return "cli.model is not supported for cli jsonl: remove it";
    }
    if (!texts(wishes.path("disallowedTools")).isEmpty() && !honours.contains("disallowedTools")) {
      return "cli.disallowedTools is supported for cli claude only: remove it";
    }
    if (!texts(wishes.path("allowedTools")).isEmpty() && !honours.contains("allowedTools")) {
      return "cli.allowedTools is supported for cli claude and gemini only: remove it";
    }
    var model = wishes.path("model").asString("x");
    if (!model.matches("[A-Za-z0-9][A-Za-z0-9._:/@\\[\\]-]{0,127}")) {
      return "cli.model must be 1 to 128 of A-Z a-z 0-9 . _ : / @ [ ] -, and begin with a letter or"
          + " digit";
    }
    if (texts(wishes.path("disallowedTools")).stream().anyMatch(tool -> tool.startsWith("-"))) {
      return "cli.disallowedTools must contain names of tools; no name may begin with -";
    }
    return TaskServers.of(wishes).problem(settings);
  }

  private CliSettings wished(JsonNode wishes, Path folder) {
    if (!wishes.isObject()) {
      return settings;
    }
    var allowed = texts(wishes.path("allowedTools"));
    var more = JsonLine.text(wishes.path("instructions"));
    var instructions = settings.instructions();
    return settings.wanting(
        JsonLine.text(wishes.path("model")) == null
            ? settings.model()
            : wishes.path("model").asString(),
        more == null || instructions == null
            ? (more == null ? instructions : more)
            : instructions + "\n\n" + more,
        allowed.isEmpty()
            ? settings.allowedTools()
            : settings.allowedTools().stream().filter(allowed::contains).toList(),
        Stream.concat(
                settings.disallowedTools().stream(), texts(wishes.path("disallowedTools")).stream())
            .distinct()
            .toList(),
        TaskServers.of(wishes).among(settings.mcp(), folder),
        Stream.concat(settings.args().stream(), texts(wishes.path("customArgs")).stream())
            .toList());
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().filter(JsonNode::isString).map(JsonNode::asString).toList();
  }

  /// The work on one task.
  private final class Work {

    private final Run run;
    private final CliSettings mine;
    private final Dialect dialect;
    private final Approvals approvals;
    private final CliStory story = new CliStory();

    Work(Run run, CliSettings mine, Dialect dialect) {
      this.run = run;
      this.mine = mine;
      this.dialect = dialect;
      this.approvals = new Approvals(run, mine, dialect, parts.patience());
    }

    Outcome go() throws InterruptedException {
      story.add(run.news());
      if (story.begun > 0 && !story.done) {
        return takeUp();
      }
      if (story.done && story.unheard().isEmpty()) {
        return new Outcome.Completed(story.lastText);
      }
      return story.begun == 0
          ? perform(
              instructed(sessions.first(run, skills(), mine.program().wire())),
              0,
              () -> sessions.fresh(run))
          : goOn();
    }

    /// Adds the instructions of the task to its prompt, for programs that read instructions only
    /// with the first prompt of a session.
    private Errand instructed(Errand errand) {
      var metadata = run.created().metadata();
      var own = metadata == null ? null : JsonLine.text(metadata.path(WISHES).path("instructions"));
      return own == null || errand.resume() == null || mine.program() == Program.CLAUDE
          ? errand
          : new Errand(own + "\n\n" + errand.prompt(), errand.resume());
    }

    private Sessions.Skills skills() {
      return new Sessions.Skills(dialect.resumes(), dialect.goesBack(), false);
    }

    /// Sends the messages that arrived while the program worked.
    private Outcome goOn() throws InterruptedException {
      var said = story.unheard().orElse("");
      var told = story.unheardCount();
      var again =
          new Errand(
              sessions.fresh(run).prompt()
                  + "\n\nYou answered:\n\n"
                  + story.lastText
                  + "\n\nThen the user said:\n\n"
                  + said,
              null);
      return story.session == null || !dialect.resumes()
          ? perform(again, told, null)
          : perform(new Errand(said, resume(story.session)), told, () -> again);
    }

    private Errand.Resume resume(String session) {
      return new Errand.Resume(session, null, false, story.totals);
    }

    /// Runs the program with the first `told` undelivered messages. `again` makes the request for a
    /// new session if the old one is lost: it takes the history from the log.
    private Outcome perform(Errand errand, int told, @Nullable Supplier<Errand> again)
        throws InterruptedException {
      var narrator = start(errand, told);
      var failure = work(narrator, errand);
      if (failure != null
          && errand.resume() != null
          && !narrator.acted()
          && dialect.lost(failure.message())) {
        // The program did nothing: its session is lost, and its history is in the log.
        if (again == null) {
          return interrupted();
        }
        var other = again.get();
        narrator = start(other, 0);
        failure = work(narrator, other);
      }
      if (failure != null) {
        return new Outcome.Failed(failure.code(), failure.message(), failure.retryable());
      }
      var done = Json.object().put(CliStory.DONE, 1).put(CliStory.ANSWER, narrator.answer());
      checkpoint(done);
      story.add(run.news());
      return story.unheard().isPresent() ? goOn() : new Outcome.Completed(narrator.answer());
    }

    private Said.@Nullable Failure work(Narrator narrator, Errand errand)
        throws InterruptedException {
      return new Stint(run, mine, dialect, narrator, approvals, errand).work(parts.children());
    }

    private Narrator start(Errand errand, int told) {
      var begun = Json.object().put(CliStory.BEGUN, story.begun + 1).put(CliStory.TOLD, told);
      var resume = errand.resume();
      if (resume != null && !resume.fork()) {
        begun.put(CliStory.RESUMES, resume.session());
      }
      checkpoint(begun);
      story.add(run.news());
      var narrator =
          new Narrator(
              run,
              mine.program().wire(),
              Sessions.remembers(run),
              new Narrator.Progress(story.thoughts, story.turns));
      narrator.remember(resume == null ? null : resume.totals());
      return narrator;
    }

    private void checkpoint(ObjectNode about) {
      var state = Json.object();
      state.set(Narrator.STATE, about);
      run.emit(List.of(new InternalCheckpoint(0, state)));
    }

    /// Recovers after an interruption: closes what the program had open, and resumes its session,
    /// if there is one.
    private Outcome takeUp() throws InterruptedException {
      var asked = story.unanswered();
      if (!asked.isEmpty() && goesOn()) {
        // The server stopped after it wrote the question and before it wrote that the task waits.
        return new Outcome.Parked(TaskState.WAITING_INPUT, Approvals.waiting(asked));
      }
      run.closeBlocks();
      while (!run.emitUnlessNews(this::cutOff)) {
        story.add(run.news());
      }
      // The checkpoints written above record these answers as delivered, so none is sent again.
      var answered =
          story.questions.values().stream().filter(question -> question.answer() != null).toList();
      answered.forEach(
          question -> approvals.grant(CliStory.hash(question), verdict(question, about(question))));
      var notes = notes();
      story.add(run.news());
      var session = story.session;
      if (session == null || !goesOn()) {
        return interrupted();
      }
      var told = story.unheardCount();
      return perform(new Errand(takenUp(notes), resume(session)), told, null);
    }

    private boolean goesOn() {
      return story.session != null && dialect.resumes() && story.begun < STARTS_MAX;
    }

    private Outcome interrupted() {
      return new Outcome.Failed(
          ErrorCode.INTERRUPTED,
          "the server stopped while " + mine.command().getFirst() + " worked",
          true);
    }

    /// The events that close all that the program had open and that is still open in the log.
    private List<Event> cutOff(ContextState state) {
      var task = run.origin().taskId();
      var open = state.openTask(task).map(found -> found.openCalls().keySet()).orElse(Set.of());
      var events = new ArrayList<Event>();
      for (var call : story.openCalls.values()) {
        if (open.contains(call.toolCallId())) {
          events.add(
              new ToolComplete(
                  call.toolCallId(),
                  call.toolName(),
                  false,
                  null,
                  "the server stopped while this ran",
                  null,
                  story.questionFor(call.toolCallId()).isEmpty()
                      ? ToolEvent.Outcome.OUTCOME_UNKNOWN
                      : ToolEvent.Outcome.INTERRUPTED,
                  call.subagentMetadata()));
        }
      }
      story.questions.forEach(
          (id, question) -> {
            if (question.answer() != null) {
              events.add(Approvals.delivered(id));
            }
          });
      state.openInputs().stream()
          .filter(input -> input.task().equals(task))
          .map(input -> input.required().inputId())
          .forEach(input -> events.add(new InputLapsed(input, Approvals.GONE)));
      return events;
    }

    private List<String> notes() {
      var notes = new ArrayList<String>();
      for (var call : story.openCalls.values()) {
        var question = story.questionFor(call.toolCallId()).orElse(null);
        notes.add(note(call.toolName(), call.arguments(), question));
      }
      story.questions.values().stream()
          .filter(
              question -> Asked.by(question.asked()).filter(story.openCalls::containsKey).isEmpty())
          .forEach(question -> notes.add(note(question)));
      return notes;
    }

    private static JsonNode call(CliStory.Question question) {
      var metadata = question.asked().metadata();
      return metadata == null ? Json.object() : metadata.path("toolCall");
    }

    private static ObjectNode about(CliStory.Question question) {
      return JsonLine.object(call(question).path("arguments"));
    }

    private static Approvals.Verdict.Given verdict(
        CliStory.Question question, ObjectNode arguments) {
      var answer = question.answer();
      return Approvals.verdict(answer == null ? null : answer.value(), arguments);
    }

    private String note(CliStory.Question question) {
      return note(call(question).path("toolName").asString(""), about(question), question);
    }

    private String note(String tool, ObjectNode arguments, CliStory.@Nullable Question question) {
      var call = tool + " " + arguments;
      if (question == null) {
        return "It is not known whether this call happened; look before you repeat it: " + call;
      }
      if (question.answer() == null) {
        return "This call was not made, because it was not approved: " + call;
      }
      return switch (verdict(question, arguments)) {
        case Approvals.Verdict.Allowed _ ->
            "This call was not made yet. A person has approved it now, so make it: " + call;
        case Approvals.Verdict.Denied(var reason) ->
            "This call was not made, and is not to be (" + reason + "): " + call;
      };
    }

    private String takenUp(List<String> notes) {
      var text =
          new StringBuilder(
              "You were interrupted: the server on which you run was stopped and started again.");
      notes.forEach(note -> text.append("\n- ").append(note));
      text.append("\nGo on with what you were asked, from where you were.");
      story
          .unheard()
          .ifPresent(said -> text.append("\n\nMeanwhile the user said:\n\n").append(said));
      return text.toString();
    }
  }
}
