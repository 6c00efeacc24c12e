package dev.parley.api.mcp;

import dev.parley.projection.TaskTree;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Folds the entries of a root task into the messages that a call of its agent sends: progress,
/// questions and the result. For one thread.
final class AgentCallProjection {

  private static final String STATUS = "status";

  private final AgentCall call;
  private final TaskTree tree = new TaskTree();
  private final Map<ArtifactId, String> artifacts = new LinkedHashMap<>();
  private final Set<Id> asked = new HashSet<>();
  private String answer = "";
  private long progress;
  private boolean ended;
  private boolean paused;

  AgentCallProjection(AgentCall call) {
    this.call = call;
  }

  /// True once the call has its result.
  boolean ended() {
    return ended;
  }

  List<OpenQuestion> questions() {
    return tree.openQuestions();
  }

  /// True if the task and all its subtasks wait for a person.
  boolean paused() {
    return paused;
  }

  /// Applies an entry and returns the messages of the call, in order.
  List<ObjectNode> apply(Entry entry) {
    var origin = entry.origin();
    if (origin == null && entry.event() instanceof Message message && message.facts().steers()) {
      tree.apply(entry);
    }
    if (ended
        || origin == null
        || entry.event().internal()
        || !origin.rootTaskId().equals(call.root())) {
      return List.of();
    }
    tree.apply(entry);
    note(origin, entry);
    var messages = new ArrayList<ObjectNode>();
    var shown = entry.position().after(call.from());
    var text = progressText(origin, entry);
    if (text != null) {
      progress++;
      if (shown && !call.progressToken().isMissingNode()) {
        messages.add(progressMessage(text));
      }
    }
    var end =
        origin.taskId().equals(call.root()) ? TaskTree.endIn(entry.event()).orElse(null) : null;
    if (end != null) {
      ended = true;
      messages.add(McpReply.result(call.requestId(), result(end)));
      return messages;
    }
    pause(entry, shown, messages);
    return messages;
  }

  private void pause(Entry entry, boolean shown, List<ObjectNode> messages) {
    if (!mayPause(entry)) {
      paused = paused && tree.treeWaitsForPerson(call.root());
      return;
    }
    paused = tree.treeWaitsForPerson(call.root());
    if (!paused) {
      return;
    }
    if (!call.elicits()) {
      if (shown) {
        ended = true;
        messages.add(McpReply.result(call.requestId(), waiting()));
      }
      return;
    }
    for (var question : tree.openQuestions()) {
      // A question that an earlier stream sent is sent again only by that stream.
      if (asked.add(question.id()) && shown) {
        messages.add(
            McpReply.request(
                ElicitationForm.requestId(call.root(), question),
                "elicitation/create",
                ElicitationForm.params(question)));
      }
    }
  }

  private static boolean mayPause(Entry entry) {
    return entry.event() instanceof SubtaskComplete
        || (entry.event() instanceof TaskStatus(var status, _, _) && status.waiting());
  }

  private void note(Origin origin, Entry entry) {
    switch (entry.event()) {
      case ContentComplete complete when tree.isAnswer(origin) && !complete.content().isBlank() ->
          answer = complete.content();
      case Message message when message.role() == Role.ASSISTANT -> answer = message.content();
      case TaskComplete complete
          when origin.taskId().equals(call.root()) && complete.content() != null ->
          answer = complete.content();
      case ArtifactEvent written -> {
        var name =
            switch (written) {
              case FileWrite file -> file.name();
              case DataWrite data -> data.name();
              case DatasetWrite dataset -> dataset.name();
            };
        artifacts.merge(
            written.artifactId(),
            name == null ? written.artifactId().value() : name,
            (before, now) -> name == null ? before : now);
      }
      default -> {} // Other events do not change the result.
    }
  }

  /// What a person would want to know about the progress of a call.
  private static @Nullable String progressText(Origin origin, Entry entry) {
    return switch (entry.event()) {
      case TaskCreated _ when origin.parentTaskId() != null -> origin.agentId() + " starts";
      case TaskComplete _ when origin.parentTaskId() != null -> origin.agentId() + " is done";
      case TaskStatus(var status, _, _) when status == TaskState.WORKING ->
          origin.agentId() + " works";
      case ToolStart start -> origin.agentId() + " calls " + start.toolName();
      case ToolProgress told when told.message() != null -> told.message();
      default -> null;
    };
  }

  private ObjectNode progressMessage(String text) {
    var params = Json.object().put("progress", progress).put("message", text);
    params.set("progressToken", call.progressToken());
    return McpReply.notification("notifications/progress", params);
  }

  private ObjectNode result(TaskState end) {
    var text =
        switch (end) {
          case COMPLETED -> answer;
          case FAILED ->
              tree.error(call.root()).map(error -> error.message()).orElse("the task failed");
          default -> "the task was canceled";
        };
    var result = content(text);
    result.set("structuredContent", structured(end.wire()).put("answer", text));
    return result.put("isError", end != TaskState.COMPLETED);
  }

  /// The result for a client that cannot ask its user.
  private ObjectNode waiting() {
    var text = new StringBuilder("The agent waits for a person.");
    for (var question : tree.openQuestions()) {
      text.append("\n\n").append(ElicitationForm.text(question));
    }
    text.append(
        "\n\nA person answers on the page of the server or in a terminal. A question that is no"
            + " approval can also be answered with this tool: pass the answer as message, and the"
            + " context ");
    text.append(call.context()).append(". To wait for the result, call the tool with the context");
    text.append(" only.");
    var result = content(text.toString());
    result.set("structuredContent", structured("waiting").put("answer", ""));
    return result.put("isError", false);
  }

  private ObjectNode structured(String status) {
    var json = Json.object().put("context", call.context().value());
    return json.put("task", call.root().value()).put(STATUS, status);
  }

  private ObjectNode content(String text) {
    var result = Json.object();
    var content = result.putArray("content");
    content.addObject().put("type", "text").put("text", text);
    artifacts.forEach(
        (id, name) ->
            content
                .addObject()
                .put("type", "resource_link")
                .put("uri", McpResources.artifactUri(call.context(), id))
                .put("name", name));
    return result;
  }
}
