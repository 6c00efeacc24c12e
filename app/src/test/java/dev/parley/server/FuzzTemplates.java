package dev.parley.server;

import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Valid requests and frames of the protocols whose bodies `/openapi.json` does not describe.
final class FuzzTemplates {

  private static final List<String> RPC =
      List.of(
          "SendMessage",
          "SendStreamingMessage",
          "GetTask",
          "ListTasks",
          "CancelTask",
          "SubscribeToTask",
          "CreateTaskPushNotificationConfig",
          "GetTaskPushNotificationConfig",
          "ListTaskPushNotificationConfigs",
          "DeleteTaskPushNotificationConfig",
          "GetExtendedAgentCard",
          "message/send",
          "message/stream",
          "tasks/get",
          "tasks/cancel",
          "tasks/resubscribe",
          "tasks/pushNotificationConfig/set",
          "tasks/pushNotificationConfig/get",
          "tasks/pushNotificationConfig/list",
          "tasks/pushNotificationConfig/delete",
          "agent/getAuthenticatedExtendedCard");

  private static final List<String> ROLES = List.of("user", "assistant", "tool", "system");

  private final FuzzValues values;

  FuzzTemplates(FuzzValues values) {
    this.values = values;
  }

  /// A body for an operation whose body has no schema.
  ObjectNode body(String path) {
    if (path.startsWith("/ag-ui")) {
      return run();
    }
    if (path.contains("/v1/") && !path.startsWith("/a2a")) {
      return openAi(path);
    }
    if (path.endsWith("message:send") || path.endsWith("message:stream")) {
      return withMessage(values.once(2));
    }
    if (path.startsWith("/a2a") || path.startsWith("/api/a2a")) {
      return rpc();
    }
    var any = Json.object();
    any.put("contextId", values.text("contextId")).put("taskId", values.text("taskId"));
    any.put("content", values.text("content")).put("sessionId", values.text("sessionId"));
    return any;
  }

  /// A request of the API that is compatible with OpenAI.
  private ObjectNode openAi(String path) {
    var request = Json.object().put("model", values.text("agentId"));
    var messages = request.putArray(path.endsWith("completions") ? "messages" : "input");
    for (var i = values.plausible() ? 0 : values.below(3); i >= 0; i--) {
      var message = messages.addObject();
      message.put("role", values.plausible() ? "user" : values.any(ROLES));
      if (values.wrongOnce(3)) {
        message.put("type", values.any(List.of("message", "function_call_output", "reasoning")));
        message.put("call_id", values.text("toolCallId")).put("output", values.text("text"));
      }
      message.put("content", values.text("content"));
    }
    for (var name : List.of("stream", "store", "background")) {
      if (values.once(4)) {
        request.put(name, values.once(2));
      }
    }
    if (values.wrongOnce(3)) {
      request.put("previous_response_id", values.text("id"));
    }
    if (values.wrongOnce(3)) {
      request.put("conversation", values.text("contextId"));
    }
    if (values.wrongOnce(3)) {
      request.putArray("tools").add(values.value(1));
      request.set("text", values.value(1));
      request.set("metadata", values.value(1));
    }
    return request;
  }

  private ObjectNode rpc() {
    var method = values.any(RPC);
    var rpc = Json.object().put("jsonrpc", "2.0").put("id", values.below(5)).put("method", method);
    var params = withMessage(method.contains("/"));
    if (!method.contains("essage")) {
      params = Json.object();
    }
    for (var name : List.of("id", "taskId")) {
      params.put(name, values.text("taskId"));
    }
    for (var name : List.of("contextId", "pageToken")) {
      if (values.once(3)) {
        params.put(name, values.text(name));
      }
    }
    if (values.once(3)) {
      params.put("historyLength", values.below(5)).put("pageSize", values.below(200));
    }
    if (method.contains("Push") || method.contains("push")) {
      var config = params.putObject("pushNotificationConfig");
      config.put("url", values.any(List.of("http://127.0.0.1:1/x", "https://192.0.2.1/", "x:y")));
      config.put("token", values.text("token"));
      params.put("url", "https://192.0.2.1/");
    }
    rpc.set("params", params);
    return rpc;
  }

  private ObjectNode withMessage(boolean old) {
    var params = Json.object();
    var message = params.putObject("message");
    message.put("messageId", values.text("messageId"));
    message.put("role", old ? "user" : "ROLE_USER");
    if (values.once(2)) {
      message.put("contextId", values.text("contextId"));
    }
    if (values.once(3)) {
      message.put("taskId", values.text("taskId"));
    }
    var part = message.putArray("parts").addObject();
    if (old) {
      message.put("kind", "message");
      part.put("kind", values.any(List.of("text", "data", "file")));
    }
    switch (values.below(4)) {
      case 0 -> part.set("data", values.value(1));
      case 1 -> part.put("url", values.text("url"));
      default -> part.put("text", values.text("text"));
    }
    if (values.once(3)) {
      params.putObject("configuration").put("returnImmediately", true).put("blocking", false);
    }
    if (values.once(4)) {
      message.set("metadata", values.value(1));
    }
    return params;
  }

  private ObjectNode run() {
    var run = Json.object();
    run.put("threadId", values.text("contextId")).put("runId", values.text("runId"));
    if (values.once(2)) {
      run.put(
          "protocolVersion",
          values.any(values.plausible() ? List.of("1.0", "1.1", "0.0.59") : List.of("7", "x.y")));
    }
    var messages = run.putArray("messages");
    for (var i = values.plausible() ? 0 : values.below(3); i >= 0; i--) {
      var message = messages.addObject().put("id", values.text("messageId"));
      message.put("role", values.plausible() ? "user" : values.any(ROLES));
      if (values.wrongOnce(4)) {
        message.put("toolCallId", values.text("toolCallId"));
      }
      if (values.once(4)) {
        message
            .putArray("content")
            .addObject()
            .put("type", "text")
            .put("text", values.text("text"));
      } else {
        message.put("content", values.text("content"));
      }
    }
    var tool =
        run.putArray("tools").addObject().put("name", "open_page").put("description", "Opens");
    tool.putObject("parameters").put("type", "object");
    run.putArray("context");
    run.set("state", values.plausible() ? Json.object() : values.value(1));
    if (values.wrongOnce(2)) {
      var answer = run.putArray("resume").addObject();
      answer.put("interruptId", values.text("inputId"));
      answer.put("status", values.any(List.of("resolved", "cancelled", "x")));
      answer.set("payload", values.value(1));
    }
    return run;
  }

  /// A text frame for the WebSocket at this path.
  String frame(String path) {
    if (path.startsWith("/socket.io")) {
      return packet();
    }
    if (path.equals("/api/ws")) {
      var command = Json.object();
      command.put("type", values.any(List.of("subscribe", "unsubscribe", "ack", "ping", "x")));
      command.put("contextId", values.text("contextId")).put("id", values.below(9));
      for (var name : List.of("after", "position", "kinds", "verbosity", "taskId")) {
        if (values.once(4)) {
          command.put(name, values.text(name));
        }
      }
      if (values.once(3)) {
        command.put("window", values.below(2_000) - 10);
      }
      return changed(command);
    }
    var event = Json.object().put("event", values.any(List.of("subscribe", "unsubscribe", "x")));
    event.set("data", agent());
    if (values.once(2)) {
      event.put("id", values.below(9));
    }
    return changed(event);
  }

  private ObjectNode agent() {
    var data = Json.object().put("agentId", values.text("taskId"));
    if (values.once(3)) {
      data.put("since", values.below(50) - 2);
    }
    return data;
  }

  /// A packet of Engine.IO, usually with one of Socket.IO in it.
  String packet() {
    var event =
        Json.mapper().createArrayNode().add(values.any(List.of("subscribe", "unsubscribe")));
    event.add(agent());
    return switch (values.below(9)) {
      case 0 -> "40";
      case 1 -> "40{\"token\":\"" + values.text("token").replace("\"", "") + "\"}";
      case 2 -> values.any(List.of("0", "1", "2", "2probe", "3", "5", "6", "7", "44", "41"));
      case 3 -> "4" + values.below(10) + values.text("content");
      case 4 -> "451-[\"subscribe\",{\"_placeholder\":true,\"num\":0}]";
      case 5 -> "42/other," + event;
      case 6 -> "42" + values.below(99) + event;
      case 7 -> "42" + changed(Json.object().set("a", event));
      default -> "42" + event;
    };
  }

  private String changed(ObjectNode node) {
    if (values.once(3)) {
      values.change(node);
    }
    return node.toString();
  }
}
