package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.tool.process.ClientProcessCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// In the real program, a process that an agent started cannot approve, even if it hides its
/// origin.
@Timeout(180)
final class ApprovalIT {

  @TempDir Path folder;

  @Test
  void a_daemon_that_an_agent_starts_cannot_approve_and_ends_with_the_server() throws Exception {
    assumeThat(ClientProcessCheck.supported()).isTrue();
    assumeThat(Path.of("/bin/bash")).isExecutable();
    var work = Files.createDirectory(folder.resolve("work"));
    var yaml = "agents: [{id: worker, tools: [shell]}]\nworkspaces: [%s]\n".formatted(work);
    var config = Files.writeString(folder.resolve("parley.yaml"), yaml);
    long pid;
    try (var server = RealProcess.serve(folder.resolve("data"), "--config", config.toString());
        var client = new ParleyClient(server.url())) {
      var victim = client.createContext(NewContext.UNTITLED).contextId();
      client.send(victim, say("run touch happened"));
      var asked = await(client, victim, InputRequired.class);
      var path = "/api/contexts/" + victim + "/inputs/" + asked.inputId();
      Files.writeString(work.resolve("daemon.sh"), daemon(server.url().getPort(), path));

      var own = client.createContext(NewContext.UNTITLED).contextId();
      client.send(
          own,
          say(
              "run (env -i setsid /bin/bash daemon.sh > /dev/null 2>&1 &);"
                  + " while [ ! -e out ]; do sleep 0.05; done; cat out"));
      client.answer(own, await(client, own, InputRequired.class).inputId(), BooleanNode.TRUE);
      var reply = await(client, own, ToolComplete.class);

      assertThat(String.valueOf(reply.result())).contains("403 Forbidden", "approval-from-child");
      pid = Long.parseLong(Files.readString(work.resolve("pid")).strip());
      assertThat(ProcessHandle.of(pid)).isPresent();

      // The test is not a process of an agent, so it may decide.
      client.answer(victim, asked.inputId(), BooleanNode.TRUE);
      await(client, victim, TaskComplete.class);
      assertThat(work.resolve("happened")).exists();
      assertThat(server.terminate()).isZero();
    }
    var left = ProcessHandle.of(pid);
    if (left.isPresent()) {
      left.get().onExit().get(60, TimeUnit.SECONDS);
    }
  }

  private static NewMessage say(String text) {
    return NewMessage.text(text).to(new AgentTypeId("worker"));
  }

  private static <E extends Event> E await(ParleyClient client, ContextId context, Class<E> type)
      throws Exception {
    try (var stream = client.stream(context, Position.START, StreamFilter.ALL)) {
      while (true) {
        var event = stream.next().orElseThrow().event();
        if (type.isInstance(event)) {
          return type.cast(event);
        }
      }
    }
  }

  /// A program that approves over its own connection and keeps running.
  private static String daemon(int port, String path) {
    return """
    echo $$ > pid
    exec 3<>/dev/tcp/127.0.0.1/%d
    printf 'POST %s HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n' >&3
    printf 'Content-Length: 14\\r\\nConnection: close\\r\\n\\r\\n{"value":true}' >&3
    cat <&3 > part
    mv part out
    exec sleep 1000
    """
        .formatted(port, path);
  }
}
