package dev.parley.external.a2a;

import dev.parley.a2a.A2aVersion;
import dev.parley.protocol.Json;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes requests for each version and transport.
final class A2aHttpRequests {

  private static final String EARLY_PREFIX = "/v1";

  private A2aHttpRequests() {}

  /// The request, without the headers that all requests have.
  static HttpRequest.Builder of(A2aEndpoint a2aEndpoint, A2aRequest a2aRequest) {
    var builder =
        a2aEndpoint.transport() == A2aTransport.JSONRPC
            ? rpc(a2aEndpoint, a2aRequest)
            : rest(a2aEndpoint, a2aRequest);
    builder.header(A2aVersion.HEADER, a2aEndpoint.version().number());
    builder.header(
        "Accept",
        a2aRequest.streams()
            ? "text/event-stream, application/json"
            : "application/json, */*;q=0.5");
    if (a2aRequest instanceof A2aRequest.SubscribeToTask(_, var last) && !last.isEmpty()) {
      builder.header("Last-Event-ID", last);
    }
    return builder;
  }

  private static HttpRequest.Builder rpc(A2aEndpoint a2aEndpoint, A2aRequest a2aRequest) {
    var body = Json.object().put("jsonrpc", "2.0").put("id", "1");
    body.put("method", method(a2aEndpoint.version(), a2aRequest));
    body.set("params", params(a2aEndpoint, a2aRequest));
    return post(a2aEndpoint.url(), body);
  }

  private static String method(A2aVersion a2aVersion, A2aRequest a2aRequest) {
    var early = a2aVersion == A2aVersion.V0_3;
    return switch (a2aRequest) {
      case A2aRequest.SendMessage(_, var streaming) when streaming ->
          early ? "message/stream" : "SendStreamingMessage";
      case A2aRequest.SendMessage _ -> early ? "message/send" : "SendMessage";
      case A2aRequest.GetTask _ -> early ? "tasks/get" : "GetTask";
      case A2aRequest.CancelTask _ -> early ? "tasks/cancel" : "CancelTask";
      case A2aRequest.SubscribeToTask _ -> early ? "tasks/resubscribe" : "SubscribeToTask";
      case A2aRequest.ListTasks _ -> early ? "tasks/list" : "ListTasks";
    };
  }

  private static ObjectNode params(A2aEndpoint a2aEndpoint, A2aRequest a2aRequest) {
    var params =
        switch (a2aRequest) {
          case A2aRequest.SendMessage(var request, _) -> a2aEndpoint.encoder().send(request);
          case A2aRequest.GetTask(var task, var length) ->
              Json.object().put("id", task).put("historyLength", length);
          case A2aRequest.CancelTask(var task) -> Json.object().put("id", task);
          case A2aRequest.SubscribeToTask(var task, _) -> Json.object().put("id", task);
          case A2aRequest.ListTasks(var count, var length) ->
              Json.object().put("pageSize", count).put("historyLength", length);
        };
    if (a2aEndpoint.tenant() != null && a2aEndpoint.version() == A2aVersion.V1_0) {
      params.put("tenant", a2aEndpoint.tenant());
    }
    return params;
  }

  private static HttpRequest.Builder rest(A2aEndpoint a2aEndpoint, A2aRequest a2aRequest) {
    var base = base(a2aEndpoint);
    return switch (a2aRequest) {
      case A2aRequest.SendMessage(var request, var streaming) ->
          post(
              A2aRemoteSettings.appendPath(base, streaming ? "/message:stream" : "/message:send"),
              a2aEndpoint.encoder().send(request));
      case A2aRequest.GetTask(var task, var length) ->
          HttpRequest.newBuilder(
                  A2aRemoteSettings.appendPath(
                      base, "/tasks/" + urlEncode(task) + "?historyLength=" + length))
              .GET();
      case A2aRequest.CancelTask(var task) -> post(task(base, task, ":cancel"), Json.object());
      case A2aRequest.SubscribeToTask(var task, _) ->
          post(task(base, task, ":subscribe"), Json.object());
      case A2aRequest.ListTasks(var count, var length) ->
          HttpRequest.newBuilder(
                  A2aRemoteSettings.appendPath(
                      base, "/tasks?pageSize=" + count + "&historyLength=" + length))
              .GET();
    };
  }

  private static URI base(A2aEndpoint a2aEndpoint) {
    if (a2aEndpoint.version() == A2aVersion.V0_3) {
      return a2aEndpoint.url().getPath().endsWith(EARLY_PREFIX)
          ? a2aEndpoint.url()
          : A2aRemoteSettings.appendPath(a2aEndpoint.url(), EARLY_PREFIX);
    }
    return a2aEndpoint.tenant() == null
        ? a2aEndpoint.url()
        : A2aRemoteSettings.appendPath(a2aEndpoint.url(), "/" + urlEncode(a2aEndpoint.tenant()));
  }

  private static URI task(URI base, String task, String verb) {
    return A2aRemoteSettings.appendPath(base, "/tasks/" + urlEncode(task) + verb);
  }

  private static String urlEncode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static HttpRequest.Builder post(URI url, JsonNode body) {
    return HttpRequest.newBuilder(url)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofByteArray(Json.bytes(body)));
  }
}
