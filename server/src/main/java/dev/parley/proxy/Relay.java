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

/// One agent at work behind a service, from its start to its end. For one thread.
final class Relay {

  private static final String PROVIDER = "proxy";
  private static final String SUCCESS = "success";
  private static final int OK = 200;
  private static final int NO_CONTENT = 204;

  /// How long a service that cannot be reached is tried again, and how long the pauses between get.
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
      // Somebody has written the task's end already.
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
          over = new Item.Over("the service no longer knows of it: " + again.statusCode());
          break;
        } else if (PASSING.contains(again.statusCode())) {
          again.body().close();
          answered = true;
          over = new Item.Over("the service answers " + again.statusCode());
        } else {
          return refused(again);
        }
      } catch (IOException unreachable) {
        over = new Item.Over("the service cannot be reached: " + unreachable.getMessage());
      } catch (TimeoutException silent) {
        // The last attempt has little time: what the service said before says more.
        over = answered ? over : new Item.Over("the service does not answer");
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
      // Its last text is whole, though the service did not say where it ends.
      narrator.tell("", List.of(new Said.TextEnd(null)));
    }
    narrator.cutOff();
    return outcome(over);
  }

  /// How long the service is still tried that was lost then.
  private Duration left(long lostNanos) {
    return tried().minusNanos(System.nanoTime() - lostNanos);
  }

  private Duration tried() {
    return settings.silence().compareTo(RECONNECT) < 0 ? settings.silence() : RECONNECT;
  }

  /// True if the service says where its events stand, so that it can be asked for those that follow, or
  /// has told nothing yet.
  private boolean resumes() {
    return agent != null && !tooMuch && goesOn() && (!last.isEmpty() || frames == 0);
  }

  /// True if the agent may be at work still, as far as was heard.
  private boolean goesOn() {
    return status == null && narrator.ended().isEmpty();
  }

  /// Reads to the end. Nothing if the service said that it has come, else why it has not.
  private @Nullable Item listen(InputStream body) throws InterruptedException {
    try (var stream = new RemoteStream(body)) {
      var first = true;
      var known = false;
      while (true) {
        var item = stream.next(settings.silence());
        while (item instanceof Item.Came(var frame)) {
          // One that is taken up and begins again says first what is known.
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
      default -> {} // Not a word of this protocol.
    }
    var id = frame.id();
    last = id == null ? last : id;
  }

  /// What a line says. What is said inside a call that is no sub-agent here is kept as it is: it must not
  /// be taken for the agent's own words.
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
      case Item.Came _ -> throw new IllegalStateException("not all was heard");
      case null -> failed(ErrorCode.INTERRUPTED, "the service said nothing of an end", true);
    };
  }

  /// Why it was not taken up again.
  private String given() {
    if (!goesOn() || forgotten) {
      return "";
    }
    return resumes()
        ? ", for " + tried().toSeconds() + " s, so it was given up"
        : ", and it has no ids by which it could be taken up";
  }

  /// Nobody waits for it any longer.
  private Outcome silent() throws InterruptedException {
    return failed(
        ErrorCode.TIMEOUT,
        "the service said nothing for " + settings.silence().toSeconds() + " s",
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

  /// Ends what is open here, and there.
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
