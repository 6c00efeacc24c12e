package dev.parley.proxy;

import dev.parley.cli.ClaudeParser;
import dev.parley.cli.Narrator;
import dev.parley.cli.Said;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.proxy.RemoteStream.Item;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
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
final class Relay {

  private static final String PROVIDER = "proxy";
  private static final String SUCCESS = "success";
  private static final int OK = 200;
  private static final int NO_CONTENT = 204;

  /// How long to retry an unreachable service, and the delays between attempts.
  private static final Duration RECONNECT = Duration.ofMinutes(1);

  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final Set<Integer> PASSING = Set.of(429, 502, 503, 504);
  private static final Set<Integer> UNKNOWN = Set.of(404, 410);
  private static final int SHOWN_MAX = 500;

  private final ProxySettings settings;
  private final Remote remote;
  private final ClaudeParser parser = new ClaudeParser();
  private final Narrator narrator;
  private final Set<String> subagents = new HashSet<>();
  private @Nullable String agent;
  private String last = "";
  private @Nullable String error;
  private @Nullable String status;
  private boolean tooMuch;
  private boolean forgotten;
  private @Nullable Frame opening;
  private long frames;

  Relay(Run run, ProxySettings settings, Remote remote) {
    this.settings = settings;
    this.remote = remote;
    this.narrator = new Narrator(run, PROVIDER, false);
  }

  Outcome work(ObjectNode request) throws InterruptedException {
    try {
      return begin(request);
    } catch (InterruptedException stopped) {
      if (agent != null) {
        remote.stop(settings.at("/agent/stop/" + agent));
      }
      throw stopped;
    } catch (Rejection ended) {
      // The task's end was already written.
      if (agent != null) {
        remote.stop(settings.at("/agent/stop/" + agent));
      }
      throw ended;
    }
  }

  private Outcome begin(ObjectNode request) throws InterruptedException {
    HttpResponse<InputStream> answer;
    try {
      answer = remote.start(settings.at("/agent/stream"), request, settings.silence());
    } catch (IOException unreachable) {
      return failed(
          ErrorCode.INTERNAL, "the service cannot be reached: " + unreachable.getMessage(), true);
    } catch (TimeoutException silent) {
      return silent();
    }
    if (answer.statusCode() != OK) {
      return refused(answer);
    }
    agent = answer.headers().firstValue("X-Agent-Id").orElse(null);
    return follow(answer.body());
  }

  private Outcome follow(InputStream first) throws InterruptedException {
    var over = listen(first);
    var heard = frames;
    var lost = System.nanoTime();
    var pause = PAUSE;
    var answered = false;
    while (over instanceof Item.Over && resumes() && left(lost).isPositive()) {
      try {
        var again = remote.resume(settings.at("/agent/stream/" + agent), last, left(lost));
        if (again.statusCode() == NO_CONTENT) {
          break;
        }
        if (again.statusCode() == OK) {
          over = listen(again.body());
        } else if (UNKNOWN.contains(again.statusCode())) {
          again.body().close();
          forgotten = true;
          over = new Item.Over("the service no longer knows the agent: " + again.statusCode());
          break;
        } else if (PASSING.contains(again.statusCode())) {
          again.body().close();
          answered = true;
          over = new Item.Over("the service answered " + again.statusCode());
        } else {
          return refused(again);
        }
      } catch (IOException unreachable) {
        over = new Item.Over("the service cannot be reached: " + unreachable.getMessage());
      } catch (TimeoutException silent) {
        // The last attempt may have very little time: an earlier HTTP status is more useful.
        over = answered ? over : new Item.Over("the service did not answer");
      }
      if (frames > heard) {
        heard = frames;
        lost = System.nanoTime();
        pause = PAUSE;
      } else {
        Thread.sleep(pause);
        pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) < 0 ? pause.multipliedBy(2) : PAUSE_MAX;
      }
    }
    narrator.tell("", parser.end());
    if (SUCCESS.equals(status)) {
      // The last text is complete, although the service did not mark its end.
      narrator.tell("", List.of(new Said.TextEnd(null)));
    }
    narrator.cutOff();
    return outcome(over);
  }

  /// The remaining time to reconnect after the connection was lost.
  private Duration left(long lostNanos) {
    return tried().minusNanos(System.nanoTime() - lostNanos);
  }

  private Duration tried() {
    return settings.silence().compareTo(RECONNECT) < 0 ? settings.silence() : RECONNECT;
  }

  /// True if the stream can be resumed: the service sends event ids, or has sent no events yet.
  private boolean resumes() {
    return agent != null && !tooMuch && goesOn() && (!last.isEmpty() || frames == 0);
  }

  /// True if the agent may still be running.
  private boolean goesOn() {
    return status == null && narrator.ended().isEmpty();
  }

  /// Reads the stream. Returns null if the service reported the end, else the reason why it
  /// stopped.
  private @Nullable Item listen(InputStream body) throws InterruptedException {
    try (var stream = new RemoteStream(body)) {
      var first = true;
      var known = false;
      while (true) {
        var item = stream.next(settings.silence());
        while (item instanceof Item.Came(var frame)) {
          // A stream that starts over repeats the known events first: skip them.
          known |= first && !last.isEmpty() && frame.equals(opening);
          first = false;
          if (known) {
            known = !last.equals(frame.id());
          } else {
            hear(frame);
          }
          if (status != null) {
            narrator.flush();
            return null;
          }
          item = stream.ready();
        }
        narrator.flush();
        if (item != null) {
          return item;
        }
      }
    } catch (Rejection.TooLarge limit) {
      tooMuch = true;
      error = limit.getMessage();
      return new Item.Over(String.valueOf(limit.getMessage()));
    }
  }

  private void hear(Frame frame) {
    frames++;
    opening = opening == null ? frame : opening;
    switch (frame.event()) {
      case "", "message" -> {
        for (var line : frame.data().split("\n", -1)) {
          narrator.tell(line, said(line));
        }
      }
      case "error" -> {
        var told = tree(frame.data()).path("error").asString("");
        error = told.isEmpty() ? shortened(frame.data()) : told;
      }
      case "complete" -> status = tree(frame.data()).path("status").asString(SUCCESS);
      default -> {} // Unknown events are ignored.
    }
    var id = frame.id();
    last = id == null ? last : id;
  }

  /// Parses a line. Output inside a tool call that is not a known sub-agent is stored as raw data,
  /// because it is not the agent's own output.
  private List<Said> said(String line) {
    var said = parser.read(line);
    for (var one : said) {
      if (one instanceof Said.ToolCalled called && called.subagent() != null) {
        subagents.add(called.id());
      }
    }
    var within = tree(line).path("parent_tool_use_id").asString("");
    return within.isEmpty() || subagents.contains(within)
        ? said
        : List.of(new Said.Raw(Said.Why.MORE));
  }

  private Outcome outcome(@Nullable Item over) throws InterruptedException {
    var ended = narrator.ended().orElse(null);
    if (ended != null && ended.success() && (status == null || status.equals(SUCCESS))) {
      return new Outcome.Completed(narrator.answer());
    }
    if (ended != null && ended.failure() != null) {
      var failure = ended.failure();
      return failed(failure.code(), error == null ? failure.message() : error, failure.retryable());
    }
    if (SUCCESS.equals(status) && ended == null && !narrator.answer().isEmpty()) {
      return new Outcome.Completed(narrator.answer());
    }
    if (status != null) {
      var why =
          SUCCESS.equals(status)
              ? "the service reported success, but sent no text"
              : "the service reported: " + status;
      return failed(ErrorCode.MODEL_ERROR, error == null ? why : error, true);
    }
    return switch (over) {
      case Item.Silent _ -> silent();
      case Item.Over(var why) when tooMuch -> failed(ErrorCode.LIMIT, why, false);
      case Item.Over(var why) ->
          failed(ErrorCode.INTERRUPTED, error == null ? why + given() : error, true);
      case Item.Came _ -> throw new IllegalStateException("there are unread events");
      case null -> failed(ErrorCode.INTERRUPTED, "the service did not report an end", true);
    };
  }

  /// The reason why the stream was not resumed.
  private String given() {
    if (!goesOn() || forgotten) {
      return "";
    }
    return resumes()
        ? "; gave up after " + tried().toSeconds() + " s"
        : "; it cannot be resumed because its events have no ids";
  }

  /// The failure after the service was silent for too long.
  private Outcome silent() throws InterruptedException {
    return failed(
        ErrorCode.TIMEOUT,
        "the service sent nothing for " + settings.silence().toSeconds() + " s",
        true);
  }

  private Outcome refused(HttpResponse<InputStream> answer) throws InterruptedException {
    var code = answer.statusCode();
    String said;
    try {
      said = new String(Remote.read(answer, SHOWN_MAX, settings.silence()), StandardCharsets.UTF_8);
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
  private Outcome failed(ErrorCode code, String message, boolean retryable)
      throws InterruptedException {
    if (agent != null && goesOn() && !forgotten) {
      remote.stop(settings.at("/agent/stop/" + agent));
    }
    narrator.cutOff();
    return new Outcome.Failed(code, message, retryable);
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
