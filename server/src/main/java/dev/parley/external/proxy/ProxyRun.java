package dev.parley.external.proxy;

import dev.parley.external.cli.ClaudeParser;
import dev.parley.external.cli.CliEventWriter;
import dev.parley.external.cli.ProgramEvent;
import dev.parley.external.proxy.ServerSentEventStream.StreamItem;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
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

  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final Set<Integer> RETRYABLE = Set.of(429, 502, 503, 504);
  private static final Set<Integer> UNKNOWN = Set.of(404, 410);
  private static final int SHOWN_MAX = 500;

  private final ProxySettings settings;
  private final AgentHttpClient agentHttpClient;
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

  ProxyRun(TaskRun taskRun, ProxySettings settings, AgentHttpClient agentHttpClient) {
    this.settings = settings;
    this.agentHttpClient = agentHttpClient;
    this.writer = new CliEventWriter(taskRun, PROVIDER, false);
  }

  TaskOutcome work(ObjectNode request) throws InterruptedException {
    try {
      return begin(request);
    } catch (InterruptedException stopped) {
      if (agent != null) {
        agentHttpClient.stop(settings.at("/agent/stop/" + agent));
      }
      throw stopped;
    } catch (Rejection ended) {
      // The task's end was already written.
      if (agent != null) {
        agentHttpClient.stop(settings.at("/agent/stop/" + agent));
      }
      throw ended;
    }
  }

  private TaskOutcome begin(ObjectNode request) throws InterruptedException {
    HttpResponse<InputStream> answer;
    try {
      answer = agentHttpClient.start(settings.at("/agent/stream"), request, settings.silence());
    } catch (IOException unreachable) {
      return failed(
          ErrorCode.INTERNAL, "the service cannot be reached: " + unreachable.getMessage(), true);
    } catch (TimeoutException silent) {
      return timedOut();
    }
    if (answer.statusCode() != OK) {
      return httpFailure(answer);
    }
    agent = answer.headers().firstValue("X-Agent-Id").orElse(null);
    return follow(answer.body());
  }

  private TaskOutcome follow(InputStream first) throws InterruptedException {
    var over = readStream(first);
    var heard = eventCount;
    var lost = System.nanoTime();
    var pause = PAUSE;
    var answered = false;
    while (over instanceof StreamItem.StreamEnded && canResume() && remaining(lost).isPositive()) {
      try {
        var again =
            agentHttpClient.resume(
                settings.at("/agent/stream/" + agent), lastEventId, remaining(lost));
        if (again.statusCode() == NO_CONTENT) {
          break;
        }
        if (again.statusCode() == OK) {
          over = readStream(again.body());
        } else if (UNKNOWN.contains(again.statusCode())) {
          again.body().close();
          unknownToService = true;
          over =
              new StreamItem.StreamEnded(
                  "the service no longer knows the agent: " + again.statusCode());
          break;
        } else if (RETRYABLE.contains(again.statusCode())) {
          again.body().close();
          answered = true;
          over = new StreamItem.StreamEnded("the service answered " + again.statusCode());
        } else {
          return httpFailure(again);
        }
      } catch (IOException unreachable) {
        over =
            new StreamItem.StreamEnded(
                "the service cannot be reached: " + unreachable.getMessage());
      } catch (TimeoutException silent) {
        // The last attempt may have very little time: an earlier HTTP status is more useful.
        over = answered ? over : new StreamItem.StreamEnded("the service did not answer");
      }
      if (eventCount > heard) {
        heard = eventCount;
        lost = System.nanoTime();
        pause = PAUSE;
      } else {
        Thread.sleep(pause);
        pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
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

  /// The remaining time to reconnect after the connection was lost.
  private Duration remaining(long lostNanos) {
    return reconnectTimeout().minusNanos(System.nanoTime() - lostNanos);
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
  private @Nullable StreamItem readStream(InputStream body) throws InterruptedException {
    try (var stream = new ServerSentEventStream(body)) {
      var first = true;
      var known = false;
      while (true) {
        var streamItem = stream.next(settings.silence());
        while (streamItem instanceof StreamItem.Received(var serverSentEvent)) {
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
        if (streamItem != null) {
          return streamItem;
        }
      }
    } catch (Rejection.TooLarge limit) {
      limitExceeded = true;
      error = limit.getMessage();
      return new StreamItem.StreamEnded(String.valueOf(limit.getMessage()));
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

  private TaskOutcome outcome(@Nullable StreamItem over) throws InterruptedException {
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
      case StreamItem.TimedOut _ -> timedOut();
      case StreamItem.StreamEnded(var why) when limitExceeded ->
          failed(ErrorCode.LIMIT, why, false);
      case StreamItem.StreamEnded(var why) ->
          failed(ErrorCode.INTERRUPTED, error == null ? why + whyNotResumed() : error, true);
      case StreamItem.Received _ -> throw new IllegalStateException("there are unread events");
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

  private TaskOutcome httpFailure(HttpResponse<InputStream> answer) throws InterruptedException {
    var code = answer.statusCode();
    String said;
    try {
      said =
          new String(
              AgentHttpClient.read(answer, SHOWN_MAX, settings.silence()), StandardCharsets.UTF_8);
    } catch (IOException | TimeoutException cut) {
      said = "";
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
    if (agent != null && mayStillRun() && !unknownToService) {
      agentHttpClient.stop(settings.at("/agent/stop/" + agent));
    }
    writer.closeOpenItems();
    return new TaskOutcome.Failed(code, message, retryable);
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
