package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Lists what a client sent for a response, and the items of conversations.
final class ResponseInputItems {

  private static final int PAGE = 1_000;

  /// How many messages of a context are read for one list.
  static final int MESSAGES_MAX = 10_000;

  private final ApiDependencies parts;

  ResponseInputItems(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The input items of a response, oldest first.
  List<ObjectNode> of(ResponseProjection response) {
    if (response.id().run() > 1) {
      var items = new ArrayList<ObjectNode>();
      for (var item : response.inputItems()) {
        items.add(item.deepCopy().put("id", "in_" + items.size() + "_" + response.id()));
      }
      return items;
    }
    return messages(response.context(), response.id().root());
  }

  /// The message of a task, and those that the client sent before it.
  private List<ObjectNode> messages(ContextId context, TaskId root) {
    var task = parts.views().task(context, root).orElse(null);
    if (task == null) {
      return List.of();
    }
    var found = new ArrayList<MessageView>();
    for (var message : all(context)) {
      if (message.seq() >= task.seq()) {
        break;
      }
      var ofTask = message.facts().taskId().filter(root::equals).isPresent();
      var imported = message.taskId() == null && message.facts().taskId().isEmpty();
      if (!ofTask && !imported) {
        // An earlier task: what precedes it is not new.
        found.clear();
      } else {
        found.add(message);
      }
    }
    return found.stream().map(ResponseInputItems::item).toList();
  }

  /// The messages of a context, oldest first.
  List<MessageView> all(ContextId context) {
    var all = new ArrayList<MessageView>();
    var after = 0L;
    while (all.size() < MESSAGES_MAX) {
      var page = parts.views().messages(context, after, PAGE);
      all.addAll(page.items());
      if (page.nextCursor() == null) {
        break;
      }
      after = page.items().getLast().seq();
    }
    return all;
  }

  /// A message as an item.
  static ObjectNode item(MessageView message) {
    var item = Json.object().put("id", "msg_" + message.messageId()).put("type", "message");
    item.put("status", "completed").put("role", message.role().wire());
    var user = message.role() != Role.ASSISTANT;
    var part = item.putArray("content").addObject();
    part.put("type", user ? "input_text" : "output_text").put("text", message.content());
    if (!user) {
      part.putArray("annotations");
    }
    return item;
  }
}
