package dev.parley.external.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.net.Backoff;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.ResponseStream;
import dev.parley.net.ServerSentEvent;
import dev.parley.net.ServerSentEventStream;
import dev.parley.net.ServerSentEventStream.EventLimits;
import dev.parley.protocol.Json;
import dev.parley.runtime.Time;
import dev.parley.tool.Credentials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// A client for a remote agent, over the version and transport that its card offers. For many
/// threads.
final class A2aClient {

  /// The extension for approvals and questions.
  static final String HITL = "https://kagent.dev/extensions/hitl/v1";

  private static final int ANSWER_MAX = 32 << 20;
  private static final EventLimits EVENT_LIMITS = new EventLimits(16 << 20);
  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

  /// A response.
  sealed interface A2aReply {

    /// A stream of items; the caller closes it.
    record StreamReply(ServerSentEventStream stream) implements A2aReply {}

    /// One item.
    record SingleReply(A2aResponseItem item) implements A2aReply {}
  }

  private final Time time;
  private final A2aRemoteSettings settings;
  private final A2aConnection connection;
  private final AgentCardCache agentCardCache;

  A2aClient(
      A2aRemoteSettings settings, OutgoingHttpClient http, Credentials credentials, Time time) {
    this.time = time;
    this.settings = settings;
    this.connection = new A2aConnection(settings, http, credentials);
    this.agentCardCache = new AgentCardCache(settings, connection, time);
  }

  A2aRemoteSettings settings() {
    return settings;
  }

  /// Waits before the next attempt, longer after each failure.
  void pause(int failures) throws InterruptedException {
    time.sleep(BACKOFF.delay(failures));
  }

  /// True if the agent supports streaming.
  boolean canStream(String owner) throws A2aFailure, InterruptedException {
    return agentCardCache.current(owner).streaming();
  }

  /// True if the agent can list its tasks.
  boolean canListTasks(String owner) throws A2aFailure, InterruptedException {
    return agentCardCache.current(owner).chooseEndpoint(settings).version() == A2aVersion.V1_0;
  }

  /// Sends a message, or subscribes to a task.
  A2aReply open(A2aRequest a2aRequest, String owner) throws A2aFailure, InterruptedException {
    var a2aEndpoint = agentCardCache.current(owner).chooseEndpoint(settings);
    var response = send(a2aEndpoint, a2aRequest, owner);
    if (response.status() < 300 && response.hasEvents()) {
      return new A2aReply.StreamReply(response.events(EVENT_LIMITS));
    }
    return new A2aReply.SingleReply(
        item(result(a2aEndpoint, A2aConnection.read(response, ANSWER_MAX, timeout(a2aRequest)))));
  }

  /// Sends an [A2aRequest.GetTask] or [A2aRequest.CancelTask] and returns the task.
  A2aTask task(A2aRequest a2aRequest, String owner) throws A2aFailure, InterruptedException {
    var a2aEndpoint = agentCardCache.current(owner).chooseEndpoint(settings);
    var a2aHttpResponse =
        A2aConnection.read(send(a2aEndpoint, a2aRequest, owner), ANSWER_MAX, timeout(a2aRequest));
    var result = result(a2aEndpoint, a2aHttpResponse);
    try {
      return A2aParser.task(result.has("task") ? result.get("task") : result, "task");
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  /// Lists the latest tasks.
  List<A2aTask> listTasks(A2aRequest.ListTasks ask, String owner)
      throws A2aFailure, InterruptedException {
    var a2aEndpoint = agentCardCache.current(owner).chooseEndpoint(settings);
    var a2aHttpResponse =
        A2aConnection.read(send(a2aEndpoint, ask, owner), ANSWER_MAX, timeout(ask));
    var result = result(a2aEndpoint, a2aHttpResponse);
    try {
      var tasks = new ArrayList<A2aTask>();
      for (var task : result.path("tasks")) {
        tasks.add(A2aParser.task(task, "tasks[" + tasks.size() + "]"));
      }
      return tasks;
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  private ResponseStream send(A2aEndpoint a2aEndpoint, A2aRequest a2aRequest, String owner)
      throws A2aFailure, InterruptedException {
    var request = A2aHttpRequests.of(a2aEndpoint, a2aRequest);
    if (agentCardCache.current(owner).extensions().contains(HITL)) {
      request.header(
          a2aEndpoint.version() == A2aVersion.V1_0 ? "A2A-Extensions" : "X-A2A-Extensions", HITL);
    }
    var response = connection.send(request, owner, timeout(a2aRequest));
    if (response.status() / 100 == 3) {
      A2aConnection.read(response, ANSWER_MAX, settings.timeout());
      throw A2aFailure.unusable(
          "it redirects to "
              + response.headers().firstValue("Location").orElse("another address")
              + ", which is not followed: if the redirect is right, configure that address as url");
    }
    return response;
  }

  /// The timeout of a request. Some agents answer a message only when the task is done, so sending
  /// one may take long.
  private Duration timeout(A2aRequest a2aRequest) {
    return a2aRequest instanceof A2aRequest.SendMessage || a2aRequest.streams()
        ? settings.silence()
        : settings.timeout();
  }

  /// The result in a response.
  ///
  /// @throws Trouble if the response is an error
  private JsonNode result(A2aEndpoint a2aEndpoint, A2aConnection.A2aHttpResponse a2aHttpResponse)
      throws A2aFailure {
    var json = a2aHttpResponse.json();
    var failed = error(json);
    if (failed.isPresent() || a2aHttpResponse.status() >= 300) {
      var a2aFailure =
          failed.orElseGet(() -> A2aFailure.status(a2aHttpResponse.status(), null, ""));
      if (a2aHttpResponse.status() == 401
          || a2aHttpResponse.status() == 403
          || a2aHttpResponse.status() == 429) {
        a2aFailure =
            A2aFailure.status(
                a2aHttpResponse.status(), null, A2aConnection.shortened(a2aHttpResponse.text()));
      }
      if (a2aFailure.is(A2aError.METHOD_NOT_FOUND, A2aError.VERSION_NOT_SUPPORTED)
          || a2aHttpResponse.status() == 404) {
        agentCardCache.invalidate();
      }
      throw a2aFailure;
    }
    return a2aEndpoint.transport() == A2aTransport.JSONRPC ? json.path("result") : json;
  }

  /// The error in a response or an event, if any: `{"error": {…}}`, or `{code, message}` in 0.3.
  private static Optional<A2aFailure> error(JsonNode json) {
    var error = json.path("error");
    if (error.isString()) {
      return Optional.of(A2aFailure.refused(null, A2aConnection.shortened(error.asString())));
    }
    var body = error.isObject() ? error : json;
    if (!body.path("code").isIntegralNumber() || !body.has("message")) {
      return Optional.empty();
    }
    var code = body.path("code").asInt();
    var known = A2aError.of(code).or(() -> reason(body));
    var said = A2aConnection.shortened(body.path("message").asString(""));
    return Optional.of(
        known.isEmpty() && code >= 400 && code < 600
            ? A2aFailure.status(code, null, said)
            : A2aFailure.refused(known.orElse(null), said));
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
  @Nullable A2aResponseItem item(ServerSentEvent serverSentEvent) throws A2aFailure {
    if (serverSentEvent.data().isBlank()) {
      return null;
    }
    JsonNode json;
    try {
      json = Json.mapper().readTree(serverSentEvent.data());
    } catch (JacksonException malformed) {
      throw A2aFailure.unusable(
          "an event of its stream is not JSON: " + A2aConnection.shortened(serverSentEvent.data()));
    }
    var failed = error(json);
    if (failed.isPresent()) {
      throw failed.get();
    }
    return item(json.has("jsonrpc") ? json.path("result") : json);
  }

  private static A2aResponseItem item(JsonNode result) throws A2aFailure {
    try {
      // In 0.3 over HTTP+JSON, the response to a message is a task in a field, or the task itself.
      return result.has("id") && result.has("status") && !result.has("kind")
          ? A2aParser.task(result, "")
          : A2aParser.item(result);
    } catch (A2aException malformed) {
      throw unreadable(malformed);
    }
  }

  private static A2aFailure unreadable(A2aException malformed) {
    return A2aFailure.unusable(
        "it sent an object that is not valid A2A: " + malformed.getMessage());
  }
}
