package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import dev.parley.stream.CorrectedEvents;
import dev.parley.stream.ReadSize;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.StringNode;

/// Routes for the messages of an agent, and for the lines of its program.
final class AgentMessageRoutes {

  /// The largest number of messages in one reply.
  static final int MESSAGES_MAX = 10_000;

  private static final int BYTES_MAX = 16 << 20;
  private static final int LINES_BYTES_MAX = 4 << 20;
  private static final int READ = 256;
  private static final String MESSAGES = "/api/agents/{id}/messages";
  private static final String JSON = "application/json";

  private final ApiDependencies parts;
  private final AgentLookup agents;
  private final AgentMessageEncoder encoder;

  AgentMessageRoutes(ApiDependencies parts, AgentLookup agents, AgentMessageEncoder form) {
    this.parts = parts;
    this.agents = agents;
    this.encoder = form;
  }

  /// A line that a program printed. `position` is its position in the context's log.
  record RawLine(Position position, String source, String line, Instant createdAt) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            MESSAGES,
            "Lists the messages of an agent, in the order of their numbers",
            ResponseDescription.other(JSON),
            List.of(
                Parameter.query(
                    "since", Parameter.Type.INTEGER, "only messages with a greater number"),
                Parameter.query(
                    "limit", Parameter.Type.INTEGER, "how many, at most " + MESSAGES_MAX),
                Parameter.query(
                    "aggregate",
                    Parameter.Type.BOOLEAN,
                    "merge the deltas of a text into one message")),
            this::messages),
        Route.get(
            "/api/agents/{id}/raw",
            "Lists the stored lines of the agent's program",
            ResponseDescription.page(RawLine.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::lines));
  }

  private Reply messages(Request request) {
    var since = request.number("since", 0).orElse(0L);
    var limit =
        request.number("limit", 1).map(n -> Math.min(n, MESSAGES_MAX)).orElse((long) MESSAGES_MAX);
    var aggregate = request.flag("aggregate");
    var agent = agents.find(request);
    if (since > agent.numbers()) {
      throw new Rejection.Invalid(
          "cursor-ahead",
          since + " is ahead of the last message, which has the number " + agent.numbers());
    }
    var raw = parts.access().mayReadInternal(request.caller());
    var page =
        aggregate
            ? new MergedMessagePage(limit.intValue())
            : new PlainMessagePage(limit.intValue());
    var last = since < agent.numbers() ? fill(page, agent, since, raw) : since;
    var headers = new HashMap<>(Map.of("X-Total-Count", Long.toString(agent.numbers())));
    if (last < agent.numbers()) {
      var query = "?since=" + last + "&limit=" + limit + (aggregate ? "&aggregate=true" : "");
      headers.put("Link", "<" + request.path() + query + ">; rel=\"next\"");
    }
    return new Reply.Bytes(200, JSON, page.json(), headers);
  }

  /// Reads messages until the page is full or there are no more. Returns the number of the last
  /// one. `raw` includes the program's lines.
  private long fill(MessagePage page, RootTaskView agent, long since, boolean raw) {
    var task = agent.task();
    var position =
        NumberedReader.NumberedPosition.of(
            parts.views().rootTasks(), task.contextId(), task.taskId(), since);
    var numberedReader = new NumberedReader(parts.log(), new ReadSize(), position);
    var corrected = new CorrectedEvents(parts.views().correctedMessages(task.contextId()));
    var last = since;
    for (var steps = numberedReader.read(); !steps.isEmpty(); steps = numberedReader.read()) {
      for (var numbered : steps) {
        if (numbered.message() && numbered.number() > since) {
          if (!page.accepts(numbered.entry()) || page.size() >= BYTES_MAX) {
            return last;
          }
          var message = encoder.message(task.taskId(), raw ? numbered : numbered.withoutRaw());
          page.add(numbered.entry(), correct(corrected, numbered.entry(), message));
          last = numbered.number();
        }
        if (numbered.number() == agent.numbers()) {
          return last;
        }
      }
    }
    return last;
  }

  /// The message without text that people deleted or replaced. Every number must have a message, so
  /// an omitted one is empty.
  private static AgentMessage correct(
      CorrectedEvents corrected, Entry entry, AgentMessage message) {
    if (!corrected.affects(entry)) {
      return message;
    }
    var text = Json.object().set("content", message.content());
    text.set("metadata", Json.mapper().valueToTree(message.metadata()));
    corrected.correct(entry, text);
    return message.corrected(
        corrected.omits(entry) ? StringNode.valueOf("") : text.path("content"),
        text.path("metadata"));
  }

  private Reply lines(Request request) {
    var agent = agents.find(request);
    parts.access().checkInternal(request.caller());
    var task = agent.task();
    var position = request.query("cursor").map(Position::parse).orElse(Position.of(task.seq()));
    var corrected = new CorrectedEvents(parts.views().correctedMessages(task.contextId()));
    var limit = request.limit();
    var end = agent.endSeq() == null ? Long.MAX_VALUE : agent.endSeq();
    var lines = new ArrayList<RawLine>();
    var size = 0;
    @Nullable String next = null;
    var open = new HashMap<TaskId, List<CutLine>>();
    for (var page = parts.log().read(task.contextId(), position, READ);
        !page.isEmpty() && position.seq() <= end;
        page = parts.log().read(task.contextId(), position, READ)) {
      for (var entry : page) {
        if (entry.event() instanceof InternalRaw raw
            && isOf(agent, entry)
            && !corrected.affects(entry)) {
          if (next == null && (lines.size() == limit || size > LINES_BYTES_MAX)) {
            next = position.toString();
          }
          if (next == null) {
            if (raw.cut() != null && entry.taskId() != null) {
              open.computeIfAbsent(entry.taskId(), _ -> new ArrayList<>())
                  .add(new CutLine(lines.size(), raw));
            }
            lines.add(new RawLine(entry.position(), raw.source(), raw.line(), entry.timestamp()));
            size += raw.line().length();
          }
        } else if (entry.taskId() != null) {
          complete(open, entry.taskId(), entry, lines);
        }
        position = entry.position();
        if (next != null && open.isEmpty()) {
          return new Reply.Json(200, new ResultPage<>(lines, next));
        }
      }
    }
    return new Reply.Json(200, new ResultPage<>(lines, next));
  }

  /// A line whose text is in a later event.
  private record CutLine(int index, InternalRaw raw) {}

  /// Completes the lines of a task whose text is in this entry.
  private static void complete(
      Map<TaskId, List<CutLine>> open, TaskId task, Entry entry, List<RawLine> lines) {
    var text = InternalRaw.textOf(entry.event());
    if (text == null) {
      return;
    }
    for (var cut : open.getOrDefault(task, List.of())) {
      var line = lines.get(cut.index());
      lines.set(
          cut.index(),
          new RawLine(line.position(), line.source(), cut.raw().line(text), line.createdAt()));
    }
    open.remove(task);
  }

  private static boolean isOf(RootTaskView agent, Entry entry) {
    return entry.origin() != null && entry.origin().rootTaskId().equals(agent.task().taskId());
  }

  /// A page that does not merge messages.
  private static final class PlainMessagePage implements MessagePage {
    private final int limit;
    private final ByteArrayOutputStream json = new ByteArrayOutputStream();
    private int count;

    PlainMessagePage(int limit) {
      this.limit = limit;
      json.write('[');
    }

    @Override
    public boolean accepts(Entry entry) {
      return count < limit;
    }

    @Override
    public void add(Entry entry, AgentMessage message) {
      if (count++ > 0) {
        json.write(',');
      }
      json.writeBytes(Json.bytes(message));
    }

    @Override
    public int size() {
      return json.size();
    }

    @Override
    public byte[] json() {
      json.write(']');
      return json.toByteArray();
    }
  }

  /// A page of messages. For one thread.
  interface MessagePage {

    /// True if the page has room for the message of this entry.
    boolean accepts(Entry entry);

    /// Adds the message of this entry.
    void add(Entry entry, AgentMessage message);

    /// The approximate size in bytes.
    int size();

    /// All messages as a JSON array. Nothing may be added after this.
    byte[] json();
  }
}
