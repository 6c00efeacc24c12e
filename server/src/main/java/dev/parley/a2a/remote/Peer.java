package dev.parley.a2a.remote;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireReader;
import dev.parley.a2a.WireTask;
import dev.parley.protocol.Json;
import dev.parley.proxy.Frame;
import dev.parley.proxy.Remote;
import dev.parley.proxy.RemoteStream;
import dev.parley.tool.Credentials;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// A client for a remote agent, over the version and transport that its card offers. For many
/// threads.
final class Peer {

  /// The extension for approvals and questions.
  static final String HITL = "https://kagent.dev/extensions/hitl/v1";

  private static final int ANSWER_MAX = 32 << 20;

  /// A response.
  sealed interface Reply {

    /// A stream of items; the caller closes it.
    record Many(RemoteStream stream) implements Reply {}

    /// One item.
    record One(WireItem item) implements Reply {}
  }

  private final RemoteSettings settings;
  private final Line line;
  private final Cards cards;

  Peer(RemoteSettings settings, Remote http, Credentials credentials, InstantSource clock) {
    this.settings = settings;
    this.line = new Line(settings, http, credentials);
    this.cards = new Cards(settings, line, clock);
  }

  RemoteSettings settings() {
    return settings;
  }

  /// True if the agent supports streaming.
  boolean streams(String owner) throws Trouble, InterruptedException {
    return cards.current(owner).streaming();
  }

  /// True if the agent can list its tasks.
  boolean lists(String owner) throws Trouble, InterruptedException {
    return cards.current(owner).choose(settings).version() == Version.V1_0;
  }

  /// Sends a message, or subscribes to a task.
  Reply follow(Ask ask, String owner) throws Trouble, InterruptedException {
    var endpoint = cards.current(owner).choose(settings);
    var response = send(endpoint, ask, owner);
    if (response.statusCode() < 300
        && response
            .headers()
            .firstValue("Content-Type")
            .orElse("")
            .startsWith("text/event-stream")) {
      return new Reply.Many(new RemoteStream(response.body()));
    }
    return new Reply.One(item(result(endpoint, Line.read(response, ANSWER_MAX, patience(ask)))));
  }

  /// Sends an [Ask.Get] or [Ask.Cancel] and returns the task.
  WireTask task(Ask ask, String owner) throws Trouble, InterruptedException {
    var endpoint = cards.current(owner).choose(settings);
    var answer = Line.read(send(endpoint, ask, owner), ANSWER_MAX, patience(ask));
    var result = result(endpoint, answer);
    try {
      return WireReader.task(result.has("task") ? result.get("task") : result, "task");
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  /// Lists the latest tasks.
  List<WireTask> latest(Ask.Latest ask, String owner) throws Trouble, InterruptedException {
    var endpoint = cards.current(owner).choose(settings);
    var answer = Line.read(send(endpoint, ask, owner), ANSWER_MAX, patience(ask));
    var result = result(endpoint, answer);
    try {
      var tasks = new ArrayList<WireTask>();
      for (var task : result.path("tasks")) {
        tasks.add(WireReader.task(task, "tasks[" + tasks.size() + "]"));
      }
      return tasks;
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  private HttpResponse<InputStream> send(Endpoint endpoint, Ask ask, String owner)
      throws Trouble, InterruptedException {
    var request = Requests.of(endpoint, ask);
    if (cards.current(owner).extensions().contains(HITL)) {
      request.header(
          endpoint.version() == Version.V1_0 ? "A2A-Extensions" : "X-A2A-Extensions", HITL);
    }
    var response = line.send(request, owner, patience(ask));
    if (response.statusCode() / 100 == 3) {
      Line.read(response, ANSWER_MAX, settings.timeout());
      throw Trouble.unusable(
          "it redirects to "
              + response.headers().firstValue("Location").orElse("another address")
              + ", which is not followed: if the redirect is right, configure that address as url");
    }
    return response;
  }

  /// The timeout of a request. Some agents answer a message only when the task is done, so sending
  /// one may take long.
  private Duration patience(Ask ask) {
    return ask instanceof Ask.Send || ask.streams() ? settings.silence() : settings.timeout();
  }

  /// The result in a response.
  ///
  /// @throws Trouble if the response is an error
  private JsonNode result(Endpoint endpoint, Line.Answer answer) throws Trouble {
    var json = answer.json();
    var failed = error(json);
    if (failed.isPresent() || answer.status() >= 300) {
      var trouble = failed.orElseGet(() -> Trouble.status(answer.status(), null, ""));
      if (answer.status() == 401 || answer.status() == 403 || answer.status() == 429) {
        trouble = Trouble.status(answer.status(), null, Line.shortened(answer.text()));
      }
      if (trouble.is(A2aError.METHOD_NOT_FOUND, A2aError.VERSION_NOT_SUPPORTED)
          || answer.status() == 404) {
        cards.doubt();
      }
      throw trouble;
    }
    return endpoint.transport() == Transport.JSONRPC ? json.path("result") : json;
  }

  /// The error in a response or an event, if any: `{"error": {…}}`, or `{code, message}` in 0.3.
  private static Optional<Trouble> error(JsonNode json) {
    var error = json.path("error");
    if (error.isString()) {
      return Optional.of(Trouble.refused(null, Line.shortened(error.asString())));
    }
    var body = error.isObject() ? error : json;
    if (!body.path("code").isIntegralNumber() || !body.has("message")) {
      return Optional.empty();
    }
    var code = body.path("code").asInt();
    var known = A2aError.of(code).or(() -> reason(body));
    var said = Line.shortened(body.path("message").asString(""));
    return Optional.of(
        known.isEmpty() && code >= 400 && code < 600
            ? Trouble.status(code, null, said)
            : Trouble.refused(known.orElse(null), said));
  }

  private static Optional<A2aError> reason(JsonNode error) {
    for (var detail : error.path("details")) {
      for (var known : A2aError.values()) {
        if (known.reason().equals(detail.path("reason").asString(""))) {
          return Optional.of(known);
        }
      }
    }
    return Optional.empty();
  }

  /// Parses the item in an event of a stream; null if the event has no data.
  @Nullable WireItem item(Frame frame) throws Trouble {
    if (frame.data().isBlank()) {
      return null;
    }
    JsonNode json;
    try {
      json = Json.mapper().readTree(frame.data());
    } catch (JacksonException malformed) {
      throw Trouble.unusable("an event of its stream is not JSON: " + Line.shortened(frame.data()));
    }
    var failed = error(json);
    if (failed.isPresent()) {
      throw failed.get();
    }
    return item(json.has("jsonrpc") ? json.path("result") : json);
  }

  private static WireItem item(JsonNode result) throws Trouble {
    try {
      // In 0.3 over HTTP+JSON, the response to a message is a task in a field, or the task itself.
      return result.has("id") && result.has("status") && !result.has("kind")
          ? WireReader.task(result, "")
          : WireReader.item(result);
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  private static Trouble unreadable(A2aException malformed) {
    return Trouble.unusable("it sent an object that is not valid A2A: " + malformed.getMessage());
  }
}
