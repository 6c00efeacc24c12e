package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// `parley backup` of a server under load, and `parley restore`.
final class BackupIT {

  private static final int WRITERS = 4;
  private static final int MESSAGES_BEFORE = 5;
  private static final int MESSAGES_MAX = 15;

  @TempDir Path folder;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void a_backup_under_load_has_all_that_was_acknowledged_and_its_tasks_go_on() throws Exception {
    var backup = folder.resolve("backup");
    var acknowledged = new ConcurrentHashMap<ContextId, Long>();
    Map<ContextId, Long> before;
    try (var server = RealProcess.serve(folder.resolve("data"))) {
      var warm = new CountDownLatch(WRITERS * MESSAGES_BEFORE);
      var stop = new AtomicBoolean();
      var writers = new ArrayList<Thread>();
      for (var i = 0; i < WRITERS; i++) {
        var url = server.url();
        writers.add(Thread.ofVirtual().start(() -> write(url, acknowledged, warm, stop)));
      }
      warm.await();
      before = new HashMap<>(acknowledged);
      try (var command =
          RealProcess.run(
              "backup", backup.toString(), "--data", folder.resolve("data").toString())) {
        assertThat(command.await()).as(command.err().toString()).isZero();
        assertThat(command.out()).singleElement().asString().startsWith("Copied ");
      }
      stop.set(true);
      for (var writer : writers) {
        writer.join();
      }
      try (var again =
          RealProcess.run(
              "backup", backup.toString(), "--data", folder.resolve("data").toString())) {
        assertThat(again.await()).isEqualTo(1);
        assertThat(again.err()).singleElement().asString().contains("exists");
      }
      server.kill();
    }
    assertThat(before).hasSizeGreaterThanOrEqualTo(WRITERS * MESSAGES_BEFORE);
    onlyTheOwnerCanRead(backup);

    var restored = folder.resolve("restored");
    restore(backup, restored, 0);
    onlyTheOwnerCanRead(restored);
    restore(backup, restored, 1);
    try (var server = RealProcess.serve(restored)) {
      for (var context : before.entrySet()) {
        everyTaskEnds(server.url(), context.getKey());
        var numbers = numbers(server.url(), context.getKey());
        for (var i = 0; i < numbers.size(); i++) {
          assertThat(numbers.get(i)).isEqualTo(i + 1);
        }
        assertThat((long) numbers.size()).isGreaterThanOrEqualTo(context.getValue());
      }
    }
  }

  @Test
  void a_damaged_backup_is_rejected_and_leaves_nothing() throws Exception {
    try (var server = RealProcess.serve(folder.resolve("data"));
        var client = new ParleyClient(server.url());
        var answer = client.ask("count to 300")) {
      answer.forEach(_ -> {});
      assertThat(server.terminate()).isZero();
    }
    var backup = folder.resolve("backup");
    try (var command =
        RealProcess.run("backup", backup.toString(), "--data", folder.resolve("data").toString())) {
      assertThat(command.await()).isZero();
    }
    var bytes = Files.readAllBytes(backup.resolve("log.db"));
    for (var i = 4_096; i < bytes.length; i++) {
      bytes[i] = (byte) (bytes[i] ^ 0x5a);
    }
    Files.write(backup.resolve("log.db"), bytes);

    restore(backup, folder.resolve("restored"), 1);
    assertThat(folder.resolve("restored")).doesNotExist();
    restore(folder.resolve("nothing"), folder.resolve("restored"), 1);
  }

  private static void restore(Path backup, Path data, int code) throws InterruptedException {
    try (var command = RealProcess.run("restore", backup.toString(), "--data", data.toString())) {
      assertThat(command.await()).as(command.err().toString()).isEqualTo(code);
    }
  }

  private static void write(
      URI url, Map<ContextId, Long> acknowledged, CountDownLatch warm, AtomicBoolean stop) {
    try (var client = new ParleyClient(url)) {
      for (var i = 0; i < MESSAGES_MAX && !stop.get(); i++) {
        var context = client.createContext(NewContext.UNTITLED).contextId();
        var accepted = client.send(context, NewMessage.text("count to 300"));
        acknowledged.put(context, accepted.seq());
        warm.countDown();
      }
    }
  }

  private static void onlyTheOwnerCanRead(Path folder) throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
    try (var files = Files.list(folder)) {
      assertThat(files)
          .isNotEmpty()
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
  }

  private void everyTaskEnds(URI url, ContextId context) throws Exception {
    while (true) {
      var tasks = json(url, "/api/contexts/" + context + "/tasks").path("items");
      var open = 0;
      for (var task : tasks) {
        open += task.path("status").asString("").equals("completed") ? 0 : 1;
      }
      if (tasks.size() > 0 && open == 0) {
        return;
      }
    }
  }

  private List<Integer> numbers(URI url, ContextId context) throws Exception {
    var numbers = new ArrayList<Integer>();
    for (var more = true; more; ) {
      var after = numbers.isEmpty() ? 0 : numbers.getLast();
      var page = json(url, "/api/contexts/" + context + "/events?limit=1000&after=" + after);
      page.path("events").forEach(event -> numbers.add(event.path("seq").asInt()));
      more = page.path("hasMore").asBoolean();
    }
    return numbers;
  }

  private JsonNode json(URI url, String path) throws Exception {
    var request = HttpRequest.newBuilder(url.resolve(path)).build();
    var reply = http.send(request, BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return Json.mapper().readTree(reply.body());
  }
}
