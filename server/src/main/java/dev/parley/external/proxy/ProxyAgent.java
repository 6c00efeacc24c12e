package dev.parley.external.proxy;

import dev.parley.agent.ConversationMemory;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageView;
import dev.parley.runtime.Time;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An agent behind a proxy service: `POST <url>/agent/stream` starts it and streams its output in
/// the format of Claude Code.
///
/// Its output is written to the log of the local task. Each task starts a new session there, and
/// its prompt includes the earlier conversation. After a crash of this server the task ends as
/// interrupted, because the output in the meantime is lost.
public final class ProxyAgent implements Agent {

  private static final long CHARACTERS_PER_TOKEN = 4;

  private final ProxySettings settings;
  private final OutgoingHttpClient http;
  private final Time time;
  private final ConversationMemory conversationMemory;

  public ProxyAgent(
      ProxySettings settings,
      OutgoingHttpClient http,
      Time time,
      ConversationMemory conversationMemory) {
    this.settings = settings;
    this.http = http;
    this.time = time;
    this.conversationMemory = conversationMemory;
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    return new ProxyRun(taskRun, settings, http, time).work(request(taskRun));
  }

  private ObjectNode request(TaskRun taskRun) {
    var request = Json.object().put("prompt", prompt(taskRun));
    var wishes = taskRun.created().facts().overrides();
    if (wishes.path("model").isString()) {
      request.set("model", wishes.path("model"));
    }
    copy(wishes.path("allowedTools"), request, "allowed_tools");
    copy(wishes.path("disallowedTools"), request, "disallowed_tools");
    return request;
  }

  private static void copy(JsonNode list, ObjectNode request, String name) {
    if (list.isArray() && !list.isEmpty()) {
      request.set(name, list);
    }
  }

  /// The prompt, after as much of the earlier conversation as fits.
  private String prompt(TaskRun taskRun) {
    var asked = ConversationMemory.promptText(taskRun);
    if (!conversationMemory.seesHistory(taskRun)) {
      return asked;
    }
    var said = new ArrayList<String>();
    var room = CHARACTERS_PER_TOKEN * conversationMemory.limits().historyTokens() - asked.length();
    for (var message : conversationMemory.earlierMessages(taskRun).reversed()) {
      room -= message.content().length();
      if (room < 0) {
        break;
      }
      said.add(speaker(message) + ": " + message.content());
    }
    return said.isEmpty()
        ? asked
        : "The conversation so far:\n\n"
            + String.join("\n\n", List.copyOf(said.reversed()))
            + "\n\n(End of what was said before.)\n\n"
            + asked;
  }

  private static String speaker(MessageView message) {
    return message.role() == Role.USER ? "User" : "Assistant";
  }
}
