package dev.parley.external.proxy;

import dev.parley.external.cli.ClaudeParser;
import dev.parley.external.cli.CliEventWriter;
import dev.parley.external.cli.ProgramEvent;
import dev.parley.net.Backoff;
import dev.parley.net.ConnectionFailure;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.ResponseStream;
import dev.parley.net.ServerSentEvent;
import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.net.ServerSentEventStream.StreamItem;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.runtime.Time;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// One run of an agent behind a proxy service, from its start to its end. For one thread.
final class ProxyRun {

  private static final String PROVIDER = "proxy";
  private static final String SUCCESS = "success";
  private static final int OK = 200;
  private static final int NO_CONTENT = 204;

  /// How long to retry an unreachable service, and the delays between attempts.
  private static final Duration RECONNECT = Duration.ofMinutes(1);

  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));
  private static final Duration STOP = Duration.ofSeconds(3);
  private static final EventLimits EVENT_LIMITS = new EventLimits(16 << 20);
  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream";
  private static final Set<Integer> RETRYABLE = Set.of(429, 502, 503, 504);
  private static final Set<Integer> UNKNOWN = Set.of(404, 410);
  private static final int SHOWN_MAX = 500;

  /// Why a stream ended before the service reported an end.
  private sealed interface StreamEnd {

    record StreamLost(String reason) implements StreamEnd {}

    record StreamTimedOut() implements StreamEnd {}
  }

  private final ProxySettings settings;
  private final OutgoingHttpClient http;
  private final Time time;
  private final ClaudeParser parser = new ClaudeParser();
  private final CliEventWriter writer;
  private final Set<String> subagents = new HashSet<>();
  private @Nullable String agent;
  private String lastEventId = "";
  private @Nullable String error;
  private @Nullable String status;
  private boolean limitExceeded;
  private boolean unknownToService;
  private @Nullable ServerSentEvent firstEvent;
  private long eventCount;

  ProxyRun(TaskRun taskRun, ProxySettings settings, OutgoingHttpClient http, Time time) {
    this.settings = settings;
    this.http = http;
    this.time = time;
    this.writer = new CliEventWriter(taskRun, PROVIDER, false);
  }

  TaskOutcome work(ObjectNode request) throws InterruptedException {
    try {
      return begin(request);
    } catch (InterruptedException | Rejection stopped) {
      // If it is a rejection, the task's end was already written.
      stop();
      throw stopped;
    }
  }

  private TaskOutcome begin(ObjectNode request) throws InterruptedException {
    ResponseStream answer;
    try {
      var start =
          HttpRequest.newBuilder(settings.at("/agent/stream"))
              .header("Content-Type", JSON)
              .header("Accept", EVENTS)
              .POST(BodyPublishers.ofByteArray(Json.bytes(request)));
      answer = http.open(start.build(), settings.silence());
    } catch (IOException unreachable) {
      return failed(ErrorCode.INTERNAL, unreachable(unreachable), true);
    } catch (TimeoutException silent) {
      return timedOut();
    }
    if (answer.status() != OK) {
      return httpFailure(answer);
    }
    agent = answer.headers().firstValue("X-Agent-Id").orElse(null);
    return follow(answer);
  }

  private TaskOutcome follow(ResponseStream first) throws InterruptedException {
    var over = readStream(first);
    var heard = eventCount;
    var deadline = time.deadline(reconnectTimeout());
    var failures = 0;
    var answered = false;
    while (over instanceof StreamEnd.StreamLost && canResume() && time.remaining(deadline) > 0) {
      try (var again = resume(Duration.ofNanos(time.remaining(deadline)))) {
        if (again.status() == NO_CONTENT) {
          break;
        }
        if (again.status() == OK) {
          over = readStream(again);
        } else if (UNKNOWN.contains(again.status())) {
          unknownToService = true;
          over =
              new StreamEnd.StreamLost("the service no longer knows the agent: " + again.status());
          break;
        } else if (RETRYABLE.contains(again.status())) {
          answered = true;
          over = new StreamEnd.StreamLost("the service answered " + again.status());
        } else {
          return httpFailure(again);
        }
      } catch (IOException unreachable) {
        over = new StreamEnd.StreamLost(unreachable(unreachable));
      } catch (TimeoutException silent) {
        // The last attempt may have very little time: an earlier HTTP status is more useful.
        over = answered ? over : new StreamEnd.StreamLost("the service did not answer");
      }
      if (eventCount > heard) {
        heard = eventCount;
        deadline = time.deadline(reconnectTimeout());
        failures = 0;
      } else {
        time.sleep(BACKOFF.delay(++failures));
      }
    }
    writer.write("", parser.end());
    if (SUCCESS.equals(status)) {
      // The last text is complete, although the service did not mark its end.
      writer.write("", List.of(new ProgramEvent.TextEnd(null)));
    }
    writer.closeOpenItems();
    return outcome(over);
  }

  private ResponseStream resume(Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    var request =
        HttpRequest.newBuilder(settings.at("/agent/stream/" + agent)).header("Accept", EVENTS);
    if (!lastEventId.isEmpty()) {
      request.header("Last-Event-ID", lastEventId);
    }
    return http.open(request.build(), patience);
  }

  private Duration reconnectTimeout() {
    return settings.silence().compareTo(RECONNECT) < 0 ? settings.silence() : RECONNECT;
  }

  /// True if the stream can be resumed: the service sends event ids, or has sent no events yet.
  private boolean canResume() {
    return agent != null
        && !limitExceeded
        && mayStillRun()
        && (!lastEventId.isEmpty() || eventCount == 0);
  }

  /// True if the agent may still be running.
  private boolean mayStillRun() {
    return status == null && writer.ended().isEmpty();
  }

  /// Reads the stream. Returns null if the service reported the end, else the reason why it
  /// stopped.
  private @Nullable StreamEnd readStream(ResponseStream body) throws InterruptedException {
    try (var stream = body.events(EVENT_LIMITS)) {
      var first = true;
      var known = false;
      while (true) {
        var streamItem = stream.next(settings.silence());
        while (streamItem instanceof StreamItem.EventReceived(var serverSentEvent)) {
          // A stream that starts over repeats the known events first: skip them.
          known |= first && !lastEventId.isEmpty() && serverSentEvent.equals(firstEvent);
          first = false;
          if (known) {
            known = !lastEventId.equals(serverSentEvent.id());
          } else {
            handle(serverSentEvent);
          }
          if (status != null) {
            writer.flush();
            return null;
          }
          streamItem = stream.ready();
        }
        writer.flush();
        if (streamItem instanceof StreamItem.StreamSilent) {
          return new StreamEnd.StreamTimedOut();
        }
        if (streamItem instanceof StreamItem.StreamEnded(var reason)) {
          return new StreamEnd.StreamLost(
              reason == null
                  ? "the service ended its stream"
                  : "the connection broke: " + reason.getMessage());
        }
      }
    } catch (Rejection.TooLarge limit) {
      limitExceeded = true;
      error = limit.getMessage();
      return new StreamEnd.StreamLost(String.valueOf(limit.getMessage()));
    }
  }

  private void handle(ServerSentEvent serverSentEvent) {
    eventCount++;
    firstEvent = firstEvent == null ? serverSentEvent : firstEvent;
    switch (serverSentEvent.event()) {
      case "", "message" -> {
        for (var line : serverSentEvent.data().split("\n", -1)) {
          writer.write(line, parse(line));
        }
      }
      case "error" -> {
        var told = tree(serverSentEvent.data()).path("error").asString("");
        error = told.isEmpty() ? shortened(serverSentEvent.data()) : told;
      }
      case "complete" -> status = tree(serverSentEvent.data()).path("status").asString(SUCCESS);
      default -> {} // Unknown events are ignored.
    }
    var id = serverSentEvent.id();
    lastEventId = id == null ? lastEventId : id;
  }

  /// Parses a line. Output inside a tool call that is not a known sub-agent is stored as raw data,
  /// because it is not the agent's own output.
  private List<ProgramEvent> parse(String line) {
    var said = parser.read(line);
    for (var one : said) {
      if (one instanceof ProgramEvent.ToolCalled called && called.subagent() != null) {
        subagents.add(called.id());
      }
    }
    var within = tree(line).path("parent_tool_use_id").asString("");
    return within.isEmpty() || subagents.contains(within)
        ? said
        : List.of(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
  }

  private TaskOutcome outcome(@Nullable StreamEnd over) throws InterruptedException {
    var turnEnded = writer.ended().orElse(null);
    if (turnEnded != null && turnEnded.success() && (status == null || status.equals(SUCCESS))) {
      return new TaskOutcome.Completed(writer.answer());
    }
    if (turnEnded != null && turnEnded.failure() != null) {
      var turnFailure = turnEnded.failure();
      return failed(
          turnFailure.code(),
          error == null ? turnFailure.message() : error,
          turnFailure.retryable());
    }
    if (SUCCESS.equals(status) && turnEnded == null && !writer.answer().isEmpty()) {
      return new TaskOutcome.Completed(writer.answer());
    }
    if (status != null) {
      var why =
          SUCCESS.equals(status)
              ? "the service reported success, but sent no text"
              : "the service reported: " + status;
      return failed(ErrorCode.MODEL_ERROR, error == null ? why : error, true);
    }
    return switch (over) {
      case StreamEnd.StreamTimedOut _ -> timedOut();
      case StreamEnd.StreamLost(var why) when limitExceeded -> failed(ErrorCode.LIMIT, why, false);
      case StreamEnd.StreamLost(var why) ->
          failed(ErrorCode.INTERRUPTED, error == null ? why + whyNotResumed() : error, true);
      case null -> failed(ErrorCode.INTERRUPTED, "the service did not report an end", true);
    };
  }

  /// The reason why the stream was not resumed.
  private String whyNotResumed() {
    if (!mayStillRun() || unknownToService) {
      return "";
    }
    return canResume()
        ? "; gave up after " + reconnectTimeout().toSeconds() + " s"
        : "; it cannot be resumed because its events have no ids";
  }

  /// The failure after the service was silent for too long.
  private TaskOutcome timedOut() throws InterruptedException {
    return failed(
        ErrorCode.TIMEOUT,
        "the service sent nothing for " + settings.silence().toSeconds() + " s",
        true);
  }

  private TaskOutcome httpFailure(ResponseStream answer) throws InterruptedException {
    var code = answer.status();
    String said;
    try (answer) {
      said = answer.excerpt(SHOWN_MAX, settings.silence());
    }
    return failed(
        switch (code) {
          case 400, 404, 413, 422 -> ErrorCode.INVALID_INPUT;
          case 401, 403 -> ErrorCode.AUTH;
          case 429 -> ErrorCode.RATE_LIMITED;
          default -> ErrorCode.INTERNAL;
        },
        "the service answered " + code + (said.isBlank() ? "" : ": " + said.strip()),
        code == 429 || code >= 500);
  }

  /// Ends open items, and stops the agent at the service.
  private TaskOutcome failed(ErrorCode code, String message, boolean retryable)
      throws InterruptedException {
    if (mayStillRun() && !unknownToService) {
      stop();
    }
    writer.closeOpenItems();
    return new TaskOutcome.Failed(code, message, retryable);
  }

  /// Asks the agent to stop, if it has started; waits only briefly.
  private void stop() throws InterruptedException {
    if (agent == null) {
      return;
    }
    var request =
        HttpRequest.newBuilder(settings.at("/agent/stop/" + agent))
            .header("Content-Type", JSON)
            .POST(BodyPublishers.ofString("{}"));
    try (var _ = http.open(request.build(), STOP)) {
      // The status does not matter.
    } catch (IOException | TimeoutException unheard) {
      // Best effort: the agent got the request or cannot be reached.
    }
  }

  private static String unreachable(IOException failure) {
    return "the service cannot be reached: " + ConnectionFailure.describe(failure);
  }

  private static JsonNode tree(String text) {
    try {
      return Json.mapper().readTree(text);
    } catch (JacksonException noJson) {
      return MissingNode.getInstance();
    }
  }

  private static String shortened(String text) {
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
  }
}
