package dev.parley.door.agents;

import dev.parley.door.Answer;
import dev.parley.door.CorrectedEvents;
import dev.parley.door.DoorParts;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.Stride;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskId;
import dev.parley.view.Page;
import dev.parley.view.RootView;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for the messages of an agent, and for the lines of its program.
final class MessageRoutes {

  /// The largest number of messages in one reply.
  static final int MESSAGES_MAX = 10_000;

  private static final int BYTES_MAX = 16 << 20;
  private static final int LINES_BYTES_MAX = 4 << 20;
  private static final int READ = 256;
  private static final String MESSAGES = "/api/agents/{id}/messages";
  private static final String JSON = "application/json";

  private final DoorParts parts;
  private final AgentLookup agents;
  private final MessageForm form;

  MessageRoutes(DoorParts parts, AgentLookup agents, MessageForm form) {
    this.parts = parts;
    this.agents = agents;
    this.form = form;
  }

  /// A line that a program printed. `position` is its position in the context's log.
  record RawLine(Position position, String source, String line, Instant createdAt) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            MESSAGES,
            "Lists the messages of an agent, in the order of their numbers",
            Answer.other(JSON),
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
            Answer.page(RawLine.class),
            List.of(Paging.LIMIT, Paging.CURSOR),
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
    var raw = parts.access().mayReadInternal(request.principal());
    var page = aggregate ? new Gathering(limit.intValue()) : new Plain(limit.intValue());
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
  private long fill(MessagePage page, RootView agent, long since, boolean raw) {
    var task = agent.task();
    var place = Telling.Place.of(parts.views().roots(), task.contextId(), task.taskId(), since);
    var telling = new Telling(parts.log(), new Stride(), place);
    var corrected = new CorrectedEvents(parts.views().corrected(task.contextId()));
    var last = since;
    for (var steps = telling.read(); !steps.isEmpty(); steps = telling.read()) {
      for (var step : steps) {
        if (step.message() && step.number() > since) {
          if (!page.takes(step.entry()) || page.size() >= BYTES_MAX) {
            return last;
          }
          var message = form.json(task.taskId(), raw ? step : step.withoutRaw());
          if (corrected.concern(step.entry())) {
            message.remove(MessageForm.RAW);
          }
          corrected.correct(step.entry(), message);
          if (corrected.omits(step.entry())) {
            // Every number must have a message.
            message.put("content", "");
          }
          page.add(step.entry(), message);
          last = step.number();
        }
        if (step.number() == agent.numbers()) {
          return last;
        }
      }
    }
    return last;
  }

  private Reply lines(Request request) {
    var agent = agents.find(request);
    parts.access().checkInternal(request.principal());
    var task = agent.task();
    var position = request.query("cursor").map(Position::parse).orElse(Position.of(task.seq()));
    var corrected = new CorrectedEvents(parts.views().corrected(task.contextId()));
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
            && !corrected.concern(entry)) {
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
          return new Reply.Json(200, new Page<>(lines, next));
        }
      }
    }
    return new Reply.Json(200, new Page<>(lines, next));
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

  private static boolean isOf(RootView agent, Entry entry) {
    return entry.origin() != null && entry.origin().rootTaskId().equals(agent.task().taskId());
  }

  /// A page that does not merge messages.
  private static final class Plain implements MessagePage {
    private final int limit;
    private final ByteArrayOutputStream json = new ByteArrayOutputStream();
    private int count;

    Plain(int limit) {
      this.limit = limit;
      json.write('[');
    }

    @Override
    public boolean takes(Entry entry) {
      return count < limit;
    }

    @Override
    public void add(Entry entry, ObjectNode message) {
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
}
