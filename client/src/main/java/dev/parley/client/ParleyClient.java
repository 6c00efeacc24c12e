package dev.parley.client;

import dev.parley.client.EventStream.StreamSubscription;
import dev.parley.client.HttpRequests.HttpCall;
import dev.parley.client.HttpRequests.RequestPath;
import dev.parley.client.Rewind.Rewound;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.AuditPage;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.BudgetView;
import dev.parley.protocol.ClusterView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.Identity.InvitationView;
import dev.parley.protocol.Identity.KeyView;
import dev.parley.protocol.Identity.NewInvitation;
import dev.parley.protocol.Identity.NewKey;
import dev.parley.protocol.Identity.PersonChange;
import dev.parley.protocol.Identity.PersonView;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.PauseView.PauseScope;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.RuleView;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A client of a Parley server: sends messages, and reads the log of any context, live or later.
///
/// ```java
/// try (var parley = new ParleyClient(URI.create("http://127.0.0.1:7070"));
///     var answer = parley.ask("count to 20")) {
///   answer.forEach(
///       entry -> {
///         if (entry.event() instanceof ContentDelta delta) {
///           System.out.print(delta.delta());
///         }
///       });
/// }
/// ```
///
/// Every method blocks, and may be called by many threads. If the server rejects a request, the
/// method throws the same [Rejection] as the server. [Unreachable] means that no server replies,
/// [BadAnswer] that the server failed or is not a Parley server.
public final class ParleyClient implements AutoCloseable {

  private final ClientSettings settings;
  private final HttpRequests httpRequests;
  private final RandomGenerator random;
  private final Supplier<String> keys;

  /// A client of the server at `url`.
  public ParleyClient(URI url) {
    this(ClientSettings.of(url));
  }

  /// A client with these settings.
  public ParleyClient(ClientSettings settings) {
    this(settings, new SecureRandom(), () -> UUID.randomUUID().toString());
  }

  ParleyClient(ClientSettings settings, RandomGenerator random, Supplier<String> keys) {
    this.settings = settings;
    this.httpRequests = new HttpRequests(settings, random);
    this.random = random;
    this.keys = keys;
  }

  /// Creates a context.
  public ContextView createContext(NewContext context) {
    return read(HttpCall.post("/api/contexts", context, keys.get()), ContextView.class);
  }

  /// The context.
  public ContextView context(ContextId context) {
    return read(HttpCall.get(path(context, "")), ContextView.class);
  }

  /// Contexts, most recently changed first.
  public ResultPage<ContextView> contexts(@Nullable String cursor, int limit) {
    return list(new RequestPath("/api/contexts"), cursor, limit, ContextView.class);
  }

  /// Renames a context or replaces its metadata; null leaves a value unchanged.
  public ContextView updateContext(
      ContextId context, @Nullable String title, @Nullable ObjectNode metadata) {
    var change = new NewContext(null, title, metadata);
    return read(HttpCall.patch(path(context, ""), change), ContextView.class);
  }

  /// Deletes a context. Returns when all its data is erased.
  public void deleteContext(ContextId context) {
    httpRequests.execute(HttpCall.delete(path(context, "")));
  }

  /// Takes a context back to an earlier event. Nothing is erased: the log continues, and the events
  /// in between no longer count.
  public Rewound rewind(ContextId context, Rewind rewind) {
    return read(HttpCall.post(path(context, "/rewind"), rewind, keys.get()), Rewound.class);
  }

  /// Creates a context that shares the history of this one up to an event.
  public ContextView fork(ContextId context, NewFork fork) {
    return read(HttpCall.post(path(context, "/fork"), fork, keys.get()), ContextView.class);
  }

  /// Sends a message. Returns when it is durable; the answer arrives as events.
  public AcceptedMessage send(ContextId context, NewMessage message) {
    return send(context, message, keys.get());
  }

  /// Sends a message with an idempotency key: a repeated call with the same key sends no second
  /// message.
  public AcceptedMessage send(ContextId context, NewMessage message, String key) {
    return read(HttpCall.post(path(context, "/messages"), message, key), AcceptedMessage.class);
  }

  /// Sends a message and streams the events of its task.
  public TaskStream sendAndStream(ContextId context, NewMessage message) {
    return sendAndStream(context, message, StreamFilter.ALL);
  }

  /// The same with a filter. If the filter excludes the end of the task, the stream never ends.
  public TaskStream sendAndStream(ContextId context, NewMessage message, StreamFilter filter) {
    var accepted = send(context, message);
    return new TaskStream(accepted, stream(context, Position.of(accepted.seq()), filter));
  }

  /// Sends text to a new context and streams the events of its task.
  public TaskStream ask(String text) {
    var context = createContext(NewContext.UNTITLED).contextId();
    return sendAndStream(context, NewMessage.text(text));
  }

  /// Messages after the one at `cursor`, oldest first.
  public ResultPage<MessageView> messages(ContextId context, @Nullable String cursor, int limit) {
    var requestPath =
        new RequestPath(path(context, "/messages")).with("after", cursor).with("limit", limit);
    return page(requestPath, MessageView.class);
  }

  /// Tasks, oldest first.
  public ResultPage<TaskView> tasks(ContextId context, @Nullable String cursor, int limit) {
    return list(new RequestPath(path(context, "/tasks")), cursor, limit, TaskView.class);
  }

  /// One task.
  public TaskView task(ContextId context, TaskId task) {
    return read(HttpCall.get(path(context, "/tasks/" + task)), TaskView.class);
  }

  /// The context that a task belongs to.
  public ContextId contextOf(TaskId task) {
    return read(HttpCall.get("/api/task-lookup/" + task), FoundTask.class).contextId();
  }

  /// Requests the cancellation of a task and its subtasks. Returns when the request is durable,
  /// before the tasks have stopped.
  public void cancel(ContextId context, TaskId task) {
    httpRequests.execute(
        HttpCall.post(path(context, "/tasks/" + task + "/cancel"), Json.object(), keys.get()));
  }

  /// Answers a task's question. Returns when the answer is durable.
  ///
  /// @throws Rejection.Invalid if the answer does not match the question, which stays open
  /// @throws Rejection.Conflict if the question was already answered or has expired
  public void answer(ContextId context, InputId input, JsonNode value) {
    var body = Json.object();
    body.set("value", value);
    httpRequests.execute(HttpCall.post(path(context, "/inputs/" + input), body, keys.get()));
  }

  /// Sends the credential of a sign-in. The server stores it outside of the log.
  public void signIn(ContextId context, AuthId auth, String credential) {
    var body = Json.object().put("credential", credential);
    httpRequests.execute(HttpCall.post(path(context, "/auths/" + auth), body, keys.get()));
  }

  /// Open questions and sign-ins, in all contexts that the caller may see.
  public ResultPage<PendingView> inbox(@Nullable String cursor, int limit) {
    return list(new RequestPath("/api/inbox"), cursor, limit, PendingView.class);
  }

  /// The latest versions of the artifacts, oldest first.
  public ResultPage<ArtifactView> artifacts(ContextId context, @Nullable String cursor, int limit) {
    return list(new RequestPath(path(context, "/artifacts")), cursor, limit, ArtifactView.class);
  }

  /// One version of an artifact; if null, the latest.
  public ArtifactView artifact(ContextId context, ArtifactId artifact, @Nullable Integer version) {
    var requestPath =
        new RequestPath(path(context, "/artifacts/" + artifact)).with("version", version);
    return read(HttpCall.get(requestPath.toString()), ArtifactView.class);
  }

  /// An artifact's bytes, which the caller closes.
  public InputStream content(ContextId context, ArtifactId artifact, @Nullable Integer version) {
    var requestPath = new RequestPath(path(context, "/artifacts/" + artifact + "/content"));
    return httpRequests.bytes(HttpCall.get(requestPath.with("version", version).toString()));
  }

  /// The current state of a context.
  public ContextSnapshot snapshot(ContextId context) {
    return read(HttpCall.get(path(context, "/snapshot")), ContextSnapshot.class);
  }

  /// The agents that the server offers.
  public List<AgentTypeView> agentTypes() {
    return page(new RequestPath("/api/agent-types"), AgentTypeView.class).items();
  }

  /// The API keys that the caller may manage, oldest first.
  public List<KeyView> keys() {
    return page(new RequestPath("/api/keys"), KeyView.class).items();
  }

  /// An API key, by its name or id.
  public KeyView key(String key) {
    return read(HttpCall.get("/api/keys/" + segment(key)), KeyView.class);
  }

  /// Creates an API key. Only this reply has its secret.
  public KeyView createKey(NewKey key) {
    return read(HttpCall.post("/api/keys", key, keys.get()), KeyView.class);
  }

  /// Revokes an API key, by its name or id. Its streams end.
  public void revokeKey(String key) {
    httpRequests.execute(HttpCall.delete("/api/keys/" + segment(key)));
  }

  /// The people of the caller's tenant, ordered by name.
  public List<PersonView> people() {
    return page(new RequestPath("/api/people"), PersonView.class).items();
  }

  /// A person.
  public PersonView person(String name) {
    return read(HttpCall.get("/api/people/" + segment(name)), PersonView.class);
  }

  /// Changes the roles or groups of a person, or disables it.
  public PersonView changePerson(String name, PersonChange change) {
    return read(HttpCall.patch("/api/people/" + segment(name), change), PersonView.class);
  }

  /// Invites a person. Only this reply has the link.
  public InvitationView invite(NewInvitation invitation) {
    return read(HttpCall.post("/api/invitations", invitation, keys.get()), InvitationView.class);
  }

  private static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /// The servers of the cluster that the server belongs to.
  ///
  /// @throws Rejection.NotFound if it belongs to none
  public ClusterView cluster() {
    return read(HttpCall.get("/api/cluster"), ClusterView.class);
  }

  /// Requests a server of the cluster to give up its role and not to take over again.
  public ClusterView drain(long node) {
    return read(
        HttpCall.post("/api/cluster/nodes/" + node + "/drain", Json.object(), keys.get()),
        ClusterView.class);
  }

  /// What operators have paused.
  public List<PauseView> pauses() {
    return page(new RequestPath("/api/pauses"), PauseView.class).items();
  }

  /// What is used of the caller's budgets; for an operator, of all budgets.
  public List<BudgetView> budgets() {
    return page(new RequestPath("/api/budgets"), BudgetView.class).items();
  }

  /// The caller's rules that allow tool calls without approval; for an operator, all rules.
  public List<RuleView> rules() {
    return page(new RequestPath("/api/rules"), RuleView.class).items();
  }

  /// Revokes a rule: its calls need approval again.
  ///
  /// @throws Rejection.NotFound if there is no such rule
  public RuleView revokeRule(String rule) {
    var id = URLEncoder.encode(rule, StandardCharsets.UTF_8).replace("+", "%20");
    return read(HttpCall.delete("/api/rules/" + id), RuleView.class);
  }

  /// Pauses the agent, person or tenant `target`, or everything if it is null.
  ///
  /// @throws Rejection.Forbidden if the caller is not an operator
  public PauseView pause(PauseScope scope, @Nullable String target, @Nullable String reason) {
    var body = Json.object().put("scope", scope.wire());
    Json.putPresent(body, "target", target);
    Json.putPresent(body, "reason", reason);
    return read(HttpCall.post("/api/pauses", body, keys.get()), PauseView.class);
  }

  /// Ends the pause with this id, such as `all` or `agent:coder`.
  ///
  /// @throws Rejection.NotFound if there is none
  public PauseView resume(String pause) {
    var id = URLEncoder.encode(pause, StandardCharsets.UTF_8).replace("+", "%20");
    return read(HttpCall.delete("/api/pauses/" + id), PauseView.class);
  }

  /// How many contexts of the server are encrypted, and whether their keys are being wrapped again.
  public EncryptionView encryption() {
    return read(HttpCall.get("/api/encryption"), EncryptionView.class);
  }

  /// Begins to wrap the keys of all contexts with the current version of the master key.
  public EncryptionView rotateKeys() {
    return read(
        HttpCall.post("/api/encryption/rotations", Json.object(), keys.get()),
        EncryptionView.class);
  }

  /// A page of the audit trail. `query` has the parameters of `GET /api/audit`.
  ///
  /// @throws Rejection.Forbidden if the caller is no operator
  public AuditPage audit(Map<String, String> query) {
    var requestPath = new RequestPath("/api/audit");
    for (var parameter : query.entrySet()) {
      requestPath = requestPath.with(parameter.getKey(), parameter.getValue());
    }
    return read(HttpCall.get(requestPath.toString()), AuditPage.class);
  }

  /// Events after `after`, oldest first.
  public EventPage events(ContextId context, Position after, int limit, StreamFilter filter) {
    var requestPath =
        new RequestPath(path(context, "/events")).with("after", after).with("limit", limit);
    return EventPage.of(httpRequests.json(HttpCall.get(filter.addTo(requestPath).toString())));
  }

  /// The same without text that was deleted or edited later; the deltas of such an answer are left
  /// out.
  public EventPage correctedEvents(ContextId context, Position after, int limit) {
    var requestPath =
        new RequestPath(path(context, "/events")).with("after", after).with("limit", limit);
    return EventPage.of(
        httpRequests.json(HttpCall.get(requestPath.with("corrected", true).toString())));
  }

  /// Streams events after `after` ([Position#START] for all), then new ones, until it is closed.
  public EventStream stream(ContextId context, Position after, StreamFilter filter) {
    var streamSubscription = new StreamSubscription(context, after, filter);
    return new EventStream(httpRequests, streamSubscription, settings, random);
  }

  /// The health report of the server.
  public ObjectNode health() {
    return httpRequests.json(HttpCall.get("/healthz"));
  }

  /// Ends every request and stream of this client.
  @Override
  public void close() {
    httpRequests.close();
  }

  private <T> T read(HttpCall httpCall, Class<T> type) {
    return decode(httpCall.path(), httpRequests.json(httpCall), type);
  }

  private <T> ResultPage<T> list(
      RequestPath requestPath, @Nullable String cursor, int limit, Class<T> type) {
    return page(requestPath.with("cursor", cursor).with("limit", limit), type);
  }

  private <T> ResultPage<T> page(RequestPath requestPath, Class<T> type) {
    var answer = httpRequests.json(HttpCall.get(requestPath.toString()));
    var items = new ArrayList<T>();
    for (var item : answer.path("items")) {
      if (!(item instanceof ObjectNode fields)) {
        throw new BadAnswer(requestPath + " returned a list with items that are not objects");
      }
      items.add(decode(requestPath.toString(), fields, type));
    }
    var next = answer.path("nextCursor");
    return new ResultPage<>(items, next.isString() || next.isNumber() ? next.asString() : null);
  }

  private static <T> T decode(String path, ObjectNode answer, Class<T> type) {
    try {
      return Json.read(answer, type);
    } catch (Rejection.Invalid misfit) {
      // This is an error of the server, not of the caller.
      throw new BadAnswer(path + " returned an unexpected object: " + misfit.getMessage(), misfit);
    }
  }

  private static String path(ContextId context, String rest) {
    return "/api/contexts/" + context + rest;
  }

  private record FoundTask(ContextId contextId, TaskId taskId) {}
}
