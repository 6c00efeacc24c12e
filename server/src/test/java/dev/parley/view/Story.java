package dev.parley.view;

import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Writes plausible random events to a context, one step at a time: people write messages, tasks
/// write text and artifacts, ask questions, succeed or fail, and sometimes the context is rewound.
final class Story {

  /// A task, its current block, and whether the block has begun.
  private static final class Work {
    final Origin origin;
    int block;
    int index;
    final StringBuilder text = new StringBuilder();

    Work(Origin origin) {
      this.origin = origin;
    }
  }

  private final EventLog log;
  private final Random random;
  private final boolean rewinds;
  final ContextId context;
  private final List<Work> open = new ArrayList<>();
  private final Map<ArtifactId, Integer> files = new LinkedHashMap<>();
  private final List<MessageId> messages = new ArrayList<>();
  private int count;
  private boolean corrects = true;

  Story(EventLog log, Random random, ContextId context, boolean rewinds) {
    this.log = log;
    this.random = random;
    this.context = context;
    this.rewinds = rewinds;
    log.create(context, new ContextCreated("owner" + random.nextInt(2), null, null));
  }

  /// Disables edits and deletions of messages.
  Story withoutCorrections() {
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
      person();
    } else {
      agent(open.get(random.nextInt(open.size())));
    }
  }

  private void person() {
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
    var origin = Origin.root(new TaskId(context + "-t" + count), new AgentTypeId("agent"));
    var metadata = Json.object().put("taskId", origin.taskId().value());
    add(new Message(message, Role.USER, "question " + count, null, metadata));
    begin(origin);
  }

  private MessageId nextMessage() {
    messages.add(new MessageId("m" + ++count));
    return messages.getLast();
  }

  private void begin(Origin origin) {
    add(origin, Scene.created());
    add(origin, Scene.status(TaskState.WORKING));
    open.add(new Work(origin));
  }

  private void agent(Work work) {
    var origin = work.origin;
    switch (random.nextInt(22)) {
      case 0, 1, 2, 3, 4 -> speak(work);
      case 5 -> endBlock(work);
      case 6 -> useTool(origin);
      case 7 -> think(origin);
      case 8, 9, 10 -> write(origin);
      case 11 -> add(origin, new Usage("m" + random.nextInt(2), 3, 4, 1L, null, cost()));
      case 12 -> needInput(origin);
      case 13 -> needAuth(origin);
      case 14 -> needInput(origin);
      case 15 -> add(origin, new CancelRequested(null, null));
      case 16 -> begin(Scene.subtask(context + "-s" + ++count, origin));
      case 17 -> add(origin, error());
      case 18 -> add(origin, new TaskStatus(TaskState.WORKING, "step", Json.object().put("s", 1)));
      case 19 -> end(work, TaskState.CANCELED);
      case 20 -> end(work, TaskState.FAILED);
      default -> complete(work);
    }
  }

  private void speak(Work work) {
    var delta = "word" + ++count + " ";
    work.text.append(delta);
    add(work.origin, new ContentDelta(delta, work.index++, block(work)));
  }

  private void endBlock(Work work) {
    if (work.index > 0) {
      var text = work.text.toString();
      add(work.origin, new ContentComplete(text, block(work), null, null, null, null));
      work.block++;
      work.index = 0;
      work.text.setLength(0);
    }
  }

  private BlockId block(Work work) {
    return new BlockId("b" + work.block);
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
    var artifact = new ArtifactId("a" + random.nextInt(4));
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
    var input = new InputId("i" + ++count);
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

  private void complete(Work work) {
    endBlock(work);
    if (work.origin.parentTaskId() == null) {
      var message = nextMessage();
      add(work.origin, new Message(message, Role.ASSISTANT, "answer " + count, null, null));
    }
    end(work, TaskState.COMPLETED);
    add(work.origin, new TaskComplete("done", null, Json.object().put("d", count)));
  }

  private void end(Work work, TaskState state) {
    add(work.origin, Scene.status(state));
    open.remove(work);
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
    log.append(context, Guard.none(), Decision.always(new Draft(origin, event)));
  }
}
