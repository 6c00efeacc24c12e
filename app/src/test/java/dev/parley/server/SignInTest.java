package dev.parley.server;

import static dev.parley.server.InboxTest.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// People give keys to tasks that ask for them, and nobody else gets to see them.
@Timeout(120)
class SignInTest {

  private static final String SECRET = "canary-secret-4711";
  private static final long FAR = 4_000_000_000L;

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();

  @AfterEach
  void close() {
    secretLeaks.close();
  }

  @Test
  void EVENT_38_a_key_is_shown_to_its_host_and_to_nobody_else() throws Exception {
    var shown = new CopyOnWriteArrayList<String>();
    var host = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    host.createContext(
        "/",
        exchange -> {
          shown.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    host.start();
    var place = "127.0.0.1:" + host.getAddress().getPort();
    try (var testServer =
        TestServer.durable(folder, TestServer.Wish.USUAL, "privateHosts: [\"127.0.0.1\"]\n")) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to " + place);
      var asked = testUser.await(context, "auth-required");
      assertThat(asked.path("authType").asString()).isEqualTo("api-key");
      assertThat(asked.at("/metadata/encryptionKey/crv").asString()).isEqualTo("P-256");
      assertThat(asked.at("/metadata/encryptionKey").has("d")).isFalse();

      var answer = testUser.signIn(context, asked.path("authId").asString(), "credential", SECRET);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      var completed = testUser.await(context, "auth-completed");
      assertThat(completed.path("userId").asString()).isEqualTo("local");
      testUser.await(context, "task-complete");
      fetch(testUser, place);
      assertThat(shown).containsExactly("Bearer " + SECRET);
      readAll(testUser, context);
    } finally {
      host.stop(0);
    }
    secretLeaks.check(folder, SECRET);
  }

  private static void fetch(TestUser testUser, String place) {
    var context = testUser.say("d", "fetch http://" + place + "/");
    var done =
        testUser.await(
            context,
            event -> {
              if (event.path("kind").asString().equals("input-required")) {
                testUser.answer(context, event.path("inputId").asString(), BooleanNode.TRUE);
              }
              return event.path("kind").asString().equals("tool-complete");
            });
    assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
  }

  /// Everything that can be read of a context goes to the leaks.
  private static void readAll(TestUser testUser, ContextId context) {
    testUser.get("/api/contexts/" + context + "/events?internal=true&limit=1000");
    testUser.get("/api/contexts/" + context + "/snapshot");
    testUser.get("/api/inbox");
    testUser.get("/metrics");
  }

  @Test
  void EVENT_38_a_credential_may_come_encrypted_with_the_key_of_the_request() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to example.org");
      var asked = testUser.await(context, "auth-required");
      var auth = asked.path("authId").asString();
      var good = claims(context, auth);

      for (var bad :
          List.of(
              "nonsense",
              jwe(key(asked), good.deepCopy().put("authId", "other")),
              jwe(key(asked), good.deepCopy().put("contextId", "other")),
              jwe(key(asked), good.deepCopy().put("exp", 1)),
              jwe(key(asked), good.deepCopy().without("exp")),
              jwe(key(asked), good.deepCopy().put("credential", "")),
              jwe(key(asked), good.deepCopy().put("credential", SECRET + "\n")),
              jwe(new ECKeyGenerator(Curve.P_256).generate().toPublicJWK(), good),
              jwe(key(asked), good).replaceFirst(".$", "!"))) {
        assertProblem(testUser.signIn(context, auth, "jwe", bad), 400, "invalid-credential");
      }
      var both = Json.object().put("credential", SECRET).put("jwe", "x");
      assertProblem(testUser.post("/api/contexts/c/auths/" + auth, both), 400, "invalid");
      assertThat(testUser.json("/api/inbox").path("items")).hasSize(1);

      var answer = testUser.signIn(context, auth, "jwe", jwe(key(asked), good));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      testUser.await(context, "task-complete");
      assertProblem(
          testUser.signIn(context, auth, "jwe", jwe(key(asked), good)), 409, "not-wanted");
      assertProblem(testUser.signIn(context, "other", "credential", SECRET), 404, "not-found");
      readAll(testUser, context);
    }
    secretLeaks.check(folder, SECRET);
  }

  @Test
  void EVENT_32_a_sign_in_and_its_key_survive_a_restart() throws Exception {
    JsonNode asked;
    ContextId context;
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      context = testUser.say("c", "sign in to example.org");
      asked = testUser.await(context, "auth-required");
      testUser.await(context, event -> event.path("status").asString("").equals("waiting-auth"));
    }
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var auth = asked.path("authId").asString();
      assertThat(testUser.json("/api/inbox").at("/items/0/authId").asString()).isEqualTo(auth);

      var answer = testUser.signIn(context, auth, "jwe", jwe(key(asked), claims(context, auth)));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      testUser.await(context, "task-complete");
    }
    secretLeaks.check(folder, SECRET);
  }

  @Test
  void a_secret_that_comes_in_clear_or_in_a_body_that_does_not_fit_is_refused_unseen()
      throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to example.org");
      var auth = testUser.await(context, "auth-required").path("authId").asString();
      var path = "/api/contexts/c/auths/" + auth;
      var body = Json.object().put("credential", SECRET);

      assertProblem(
          testUser.post(path, body, "X-Forwarded-Proto", "http"), 400, "not-confidential");
      for (var broken :
          List.of(
              "{\"credential\":\"" + SECRET,
              "{\"credential\":[\"" + SECRET + "\"]}",
              "{\"credential\":{\"" + SECRET + "\":1}}",
              "{\"credential\":\"" + SECRET + "\\u0007\"}",
              "[\"" + SECRET + "\"]")) {
        var answer = testServer.post(path, broken);
        secretLeaks.hear(answer.body());
        assertThat(answer.statusCode()).isEqualTo(400);
      }
      var resume = Json.object();
      resume.putArray("credentials").addObject().put("authId", "x").put("credential", SECRET);
      assertProblem(testUser.post("/api/contexts/c/resume", resume), 404, "not-found");

      var answer = testUser.post(path, body, "X-Forwarded-Proto", "https", "Idempotency-Key", "k");

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      assertThat(testUser.post(path, body, "Idempotency-Key", "k").body()).isEqualTo(answer.body());
      testUser.await(context, "task-complete");
      readAll(testUser, context);
    }
    secretLeaks.check(folder, SECRET);
  }

  @Test
  void of_people_who_sign_in_at_the_same_time_one_is_taken() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to example.org");
      var auth = testUser.await(context, "auth-required").path("authId").asString();
      var racers = new ArrayList<Callable<Integer>>();
      for (var i = 0; i < 4; i++) {
        racers.add(() -> testUser.signIn(context, auth, "credential", SECRET).statusCode());
      }

      var codes = new ArrayList<Integer>();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (var done : threads.invokeAll(racers)) {
          codes.add(done.get());
        }
      }

      assertThat(codes).containsExactlyInAnyOrder(202, 409, 409, 409);
    }
  }

  @Test
  void EVENT_39_a_sign_in_that_nobody_makes_lapses() throws Exception {
    try (var testServer =
        TestServer.durable(folder, TestServer.Wish.USUAL, "limits: {inputTimeout: 200ms}\n")) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "sign in to example.org");
      var auth = testUser.await(context, "auth-lapsed").path("authId").asString();

      testUser.await(context, "task-complete");
      assertProblem(testUser.signIn(context, auth, "credential", SECRET), 409, "not-wanted");
      assertThat(testUser.json("/api/inbox").path("items")).isEmpty();
    }
  }

  private static ObjectNode claims(ContextId context, String auth) {
    return Json.object()
        .put("authId", auth)
        .put("contextId", context.value())
        .put("exp", FAR)
        .put("credential", SECRET);
  }

  private static ECKey key(JsonNode asked) throws Exception {
    return ECKey.parse(asked.at("/metadata/encryptionKey").toString());
  }

  private static String jwe(ECKey key, JsonNode claims) throws Exception {
    var header = new JWEHeader(JWEAlgorithm.ECDH_ES, EncryptionMethod.A256GCM);
    var jwe = new JWEObject(header, new Payload(claims.toString()));
    jwe.encrypt(new ECDHEncrypter(key));
    return jwe.serialize();
  }
}
