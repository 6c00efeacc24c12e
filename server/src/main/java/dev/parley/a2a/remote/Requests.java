package dev.parley.a2a.remote;

import dev.parley.a2a.Version;
import dev.parley.protocol.Json;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes requests for each version and transport.
final class Requests {

  private static final String EARLY_PREFIX = "/v1";

  private Requests() {}

  /// The request, without the headers that all requests have.
  static HttpRequest.Builder of(Endpoint endpoint, Ask ask) {
    var builder =
        endpoint.transport() == Transport.JSONRPC ? rpc(endpoint, ask) : rest(endpoint, ask);
    builder.header(Version.HEADER, endpoint.version().number());
    builder.header(
        "Accept",
        ask.streams() ? "text/event-stream, application/json" : "application/json, */*;q=0.5");
    if (ask instanceof Ask.Subscribe(_, var last) && !last.isEmpty()) {
      builder.header("Last-Event-ID", last);
    }
    return builder;
  }

  private static HttpRequest.Builder rpc(Endpoint endpoint, Ask ask) {
    var body = Json.object().put("jsonrpc", "2.0").put("id", "1");
    body.put("method", method(endpoint.version(), ask));
    body.set("params", params(endpoint, ask));
    return posted(endpoint.url(), body);
  }

  private static String method(Version version, Ask ask) {
    var early = version == Version.V0_3;
    return switch (ask) {
      case Ask.Send(_, var streaming) when streaming ->
          early ? "message/stream" : "SendStreamingMessage";
      case Ask.Send _ -> early ? "message/send" : "SendMessage";
      case Ask.Get _ -> early ? "tasks/get" : "GetTask";
      case Ask.Cancel _ -> early ? "tasks/cancel" : "CancelTask";
      case Ask.Subscribe _ -> early ? "tasks/resubscribe" : "SubscribeToTask";
      case Ask.Latest _ -> early ? "tasks/list" : "ListTasks";
    };
  }

  private static ObjectNode params(Endpoint endpoint, Ask ask) {
    var params =
        switch (ask) {
          case Ask.Send(var request, _) -> endpoint.form().send(request);
          case Ask.Get(var task, var length) ->
              Json.object().put("id", task).put("historyLength", length);
          case Ask.Cancel(var task) -> Json.object().put("id", task);
          case Ask.Subscribe(var task, _) -> Json.object().put("id", task);
          case Ask.Latest(var count, var length) ->
              Json.object().put("pageSize", count).put("historyLength", length);
        };
    if (endpoint.tenant() != null && endpoint.version() == Version.V1_0) {
      params.put("tenant", endpoint.tenant());
    }
    return params;
  }

  private static HttpRequest.Builder rest(Endpoint endpoint, Ask ask) {
    var base = base(endpoint);
    return switch (ask) {
      case Ask.Send(var request, var streaming) ->
          posted(
              RemoteSettings.below(base, streaming ? "/message:stream" : "/message:send"),
              endpoint.form().send(request));
      case Ask.Get(var task, var length) ->
          HttpRequest.newBuilder(
                  RemoteSettings.below(base, "/tasks/" + coded(task) + "?historyLength=" + length))
              .GET();
      case Ask.Cancel(var task) -> posted(task(base, task, ":cancel"), Json.object());
      case Ask.Subscribe(var task, _) -> posted(task(base, task, ":subscribe"), Json.object());
      case Ask.Latest(var count, var length) ->
          HttpRequest.newBuilder(
                  RemoteSettings.below(
                      base, "/tasks?pageSize=" + count + "&historyLength=" + length))
              .GET();
    };
  }

  private static URI base(Endpoint endpoint) {
    if (endpoint.version() == Version.V0_3) {
      return endpoint.url().getPath().endsWith(EARLY_PREFIX)
          ? endpoint.url()
          : RemoteSettings.below(endpoint.url(), EARLY_PREFIX);
    }
    return endpoint.tenant() == null
        ? endpoint.url()
        : RemoteSettings.below(endpoint.url(), "/" + coded(endpoint.tenant()));
  }

  private static URI task(URI base, String task, String verb) {
    return RemoteSettings.below(base, "/tasks/" + coded(task) + verb);
  }

  private static String coded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static HttpRequest.Builder posted(URI url, JsonNode body) {
    return HttpRequest.newBuilder(url)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofByteArray(Json.bytes(body)));
  }
}
