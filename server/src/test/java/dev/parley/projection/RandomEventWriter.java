package dev.parley.projection;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Writes plausible random events to a context, one step at a time: people write messages, tasks
/// write text and artifacts, ask questions, succeed or fail, and sometimes the context is rewound.
final class RandomEventWriter {

  /// A task, its current block, and whether the block has begun.
  private static final class RunningTask {
    final Origin origin;
    int block;
    int index;
    final StringBuilder text = new StringBuilder();

    RunningTask(Origin origin) {
      this.origin = origin;
    }
  }

  private final EventLog log;
  private final Random random;
  private final boolean rewinds;
  final ContextId context;
  private final List<RunningTask> open = new ArrayList<>();
  private final Map<ArtifactId, Integer> files = new LinkedHashMap<>();
  private final List<MessageId> messages = new ArrayList<>();
  private int count;
  private boolean corrects = true;

  RandomEventWriter(EventLog log, Random random, ContextId context, boolean rewinds) {
    this.log = log;
    this.random = random;
    this.context = context;
    this.rewinds = rewinds;
    log.create(context, new ContextCreated("owner" + random.nextInt(2), null, null));
  }

  /// Disables edits and deletions of messages.
  RandomEventWriter withoutCorrections() {
    corrects = false;
    return this;
  }

  /// Ends all open tasks.
  void finish() {
    List.copyOf(open).forEach(this::complete);
    files.clear();
  }

  void step() {
    if (open.isEmpty() || random.nextInt(12) == 0) {
      personStep();
    } else {
      agentStep(open.get(random.nextInt(open.size())));
    }
  }

  private void personStep() {
    switch (random.nextInt(rewinds && open.isEmpty() ? 9 : 7)) {
      case 0 -> add(new ContextUpdated(maybe("Name"), Json.object().put("n", ++count)));
      case 1 -> add(new StateUpdated(delta()));
      case 2 ->
          correct(new MessageUpdated(earlier(), "edited " + ++count, Json.object().put("e", 1)));
      case 3 -> correct(new MessageDeleted(earlier()));
      case 4, 5, 6 -> ask();
      default -> {
        add(new ContextRewound(toSeq(), null, null, null, null));
        files.clear();
      }
    }
  }

  private void correct(Event correction) {
    if (corrects) {
      add(correction);
    } else {
      ask();
    }
  }

  /// Sets or removes a key, rarely one that other contexts share.
  private ObjectNode delta() {
    var key = (random.nextInt(4) == 0 ? "user:k" : "k") + random.nextInt(3);
    return random.nextInt(3) == 0 ? Json.object().putNull(key) : Json.object().put(key, ++count);
  }

  private long toSeq() {
    return random.nextLong(log.head(context).seq()) + 1;
  }

  private MessageId earlier() {
    return messages.isEmpty()
        ? new MessageId("unknown")
        : messages.get(random.nextInt(messages.size()));
  }

  private void ask() {
    var message = nextMessage();
    var origin = Origin.root(new TaskId(id(context + "-t" + count)), new AgentTypeId("agent"));
    var metadata = Json.object().put("taskId", origin.taskId().value());
    add(new Message(message, Role.USER, "question " + count, null, metadata));
    begin(origin);
  }

  /// Returns a UUID for about half of the names, because the views store UUIDs in another way.
  private static String id(String name) {
    return name.hashCode() % 2 == 0
        ? UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString()
        : name;
  }

  private MessageId nextMessage() {
    messages.add(new MessageId(id("m" + ++count)));
    return messages.getLast();
  }

  private void begin(Origin origin) {
    add(origin, ViewsFixture.created());
    add(origin, ViewsFixture.status(TaskState.WORKING));
    open.add(new RunningTask(origin));
  }

  private void agentStep(RunningTask runningTask) {
    var origin = runningTask.origin;
    switch (random.nextInt(22)) {
      case 0, 1, 2, 3, 4 -> writeText(runningTask);
      case 5 -> endBlock(runningTask);
      case 6 -> useTool(origin);
      case 7 -> think(origin);
      case 8, 9, 10 -> write(origin);
      case 11 -> add(origin, new Usage("m" + random.nextInt(2), 3, 4, 1L, null, cost()));
      case 12 -> needInput(origin);
      case 13 -> needAuth(origin);
      case 14 -> needInput(origin);
      case 15 -> add(origin, new CancelRequested(null, null));
      case 16 -> begin(ViewsFixture.subtask(context + "-s" + ++count, origin));
      case 17 -> add(origin, error());
      case 18 -> add(origin, new TaskStatus(TaskState.WORKING, "step", Json.object().put("s", 1)));
      case 19 -> end(runningTask, TaskState.CANCELED);
      case 20 -> end(runningTask, TaskState.FAILED);
      default -> complete(runningTask);
    }
  }

  private void writeText(RunningTask runningTask) {
    var delta = "word" + ++count + " ";
    runningTask.text.append(delta);
    add(runningTask.origin, new ContentDelta(delta, runningTask.index++, block(runningTask)));
  }

  private void endBlock(RunningTask runningTask) {
    if (runningTask.index > 0) {
      var text = runningTask.text.toString();
      add(
          runningTask.origin,
          new ContentComplete(text, block(runningTask), null, null, null, null));
      runningTask.block++;
      runningTask.index = 0;
      runningTask.text.setLength(0);
    }
  }

  private BlockId block(RunningTask runningTask) {
    return new BlockId("b" + runningTask.block);
  }

  private void useTool(Origin origin) {
    var call = new ToolCallId("call" + ++count);
    add(origin, new ToolStart(call, "tool", Json.object(), null, null, null, null, null));
    add(origin, new ToolComplete(call, "tool", true, null, null, null, null, null));
  }

  private void think(Origin origin) {
    add(origin, new ThoughtEvent.InternalLlmCall(1, "m", 1, 1));
    add(origin, new ThoughtEvent.InternalCheckpoint(1, null));
  }

  private void write(Origin origin) {
    var artifact = new ArtifactId(id("a" + random.nextInt(4)));
    add(origin, random.nextInt(3) == 0 ? data(artifact) : chunk(artifact));
  }

  private ArtifactEvent data(ArtifactId artifact) {
    files.remove(artifact);
    return new DataWrite(artifact, null, null, Json.object().put("n", ++count), null, null);
  }

  /// Returns the next chunk, rarely after a gap. Files have even names and datasets odd ones.
  private ArtifactEvent chunk(ArtifactId artifact) {
    var next = files.getOrDefault(artifact, 0);
    var index = next > 0 && random.nextInt(10) == 0 ? next + 1 : next;
    var last = random.nextInt(4) == 0;
    files.put(artifact, last ? 0 : index + 1);
    var row = Json.object().put("n", ++count);
    return artifact.value().hashCode() % 2 == 0
        ? new FileWrite(artifact, "é" + count, index, last, null, null, null, null, null, null)
        : new DatasetWrite(artifact, List.of(row), index, last, null, null, null, null, null);
  }

  private void needInput(Origin origin) {
    var input = new InputId(id("i" + ++count));
    var type = InputEvent.InputType.CONFIRMATION;
    add(origin, new InputEvent.InputRequired(input, null, type, "?", null, null, null, null));
    switch (random.nextInt(3)) {
      case 0 -> {
        var person = InputEvent.Provider.USER;
        add(origin, new InputEvent.InputReceived(input, person, null, null, null, null));
      }
      case 1 -> add(origin, new InputEvent.InputLapsed(input, null));
      default -> {} // The question stays open.
    }
  }

  private void needAuth(Origin origin) {
    var auth = new AuthId("auth" + ++count);
    var type = AuthEvent.AuthType.API_KEY;
    add(origin, new AuthEvent.AuthRequired(auth, type, null, null, "?", null, null, null));
    if (random.nextBoolean()) {
      add(origin, new AuthEvent.AuthCompleted(auth, "ada", null));
    }
  }

  private static ErrorReported error() {
    return new ErrorReported(ErrorCode.INTERNAL, "oops", false, ErrorScope.TASK, null);
  }

  private void complete(RunningTask runningTask) {
    endBlock(runningTask);
    if (runningTask.origin.parentTaskId() == null) {
      var message = nextMessage();
      add(runningTask.origin, new Message(message, Role.ASSISTANT, "answer " + count, null, null));
    }
    end(runningTask, TaskState.COMPLETED);
    add(runningTask.origin, new TaskComplete("done", null, Json.object().put("d", count)));
  }

  private void end(RunningTask runningTask, TaskState state) {
    add(runningTask.origin, ViewsFixture.status(state));
    open.remove(runningTask);
  }

  private @Nullable String maybe(String text) {
    return random.nextBoolean() ? text + ++count : null;
  }

  private @Nullable BigDecimal cost() {
    return random.nextBoolean() ? new BigDecimal(random.nextInt(100)).movePointLeft(3) : null;
  }

  private void add(Event event) {
    add(null, event);
  }

  private void add(@Nullable Origin origin, Event event) {
    log.append(context, AppendGuard.none(), Decision.always(new EventDraft(origin, event)));
  }
}
