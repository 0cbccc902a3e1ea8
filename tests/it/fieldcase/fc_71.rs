//! FC-71: the error within a gateway's error.

use rig::__private::Policy;
use rig::testing::Scripted;
use rig::{Event, FailureClass};
use serde_json::{Value, json};
use tests::routes::fc_base::FcBase;
use tests::{World, block_on};

use super::Case;
use super::ladder::{BOTH, DEEPSEEK_A, ask, classes, response, retries, route, world};

const PATIENT: &[(FailureClass, u32)] =
    &[(FailureClass::Network, 2), (FailureClass::CapacityShed, 2)];

fn ok() -> Scripted {
    Scripted::chat(r#"{"answer":"ok"}"#)
}

/// The reply of a file, and whether it is a stream.
fn reply(case: &Case, file: &str) -> (Scripted, bool) {
    match file.ends_with(".sse") {
        true => (
            Scripted::status(200, case.read(file)).header("content-type", "text/event-stream"),
            true,
        ),
        false => (response(case, file), false),
    }
}

fn run(
    world: &World,
    route: rig::__private::Route,
    streams: bool,
) -> rig::Result<rig::Run<FcBase>> {
    let call = ask::<FcBase>(route).on(&world.rig);
    block_on(async {
        if !streams {
            return call.run().await;
        }
        let mut events = call.stream();
        loop {
            if let Event::Done(run) = events.next().await.expect("a run tells its end")? {
                return Ok(run);
            }
        }
    })
}

// K7, K4: the inner error decides. With another candidate it serves; alone, the message names the inner reason.
#[test]
fn fc_71_the_inner_error_decides_the_class() {
    let Some(case) = Case::open("FC-71") else {
        return;
    };
    for (file, expected) in case.json("expect.json").as_object().unwrap() {
        let expected = expected.as_str().unwrap().split(' ').next().unwrap();
        let (first, streams) = reply(&case, file);
        let retried = expected == "capacity_shed";

        let both = world();
        both.push([first.clone(), ok()]);
        let served = run(&both, route(&BOTH, None, retries(PATIENT)), streams).unwrap();
        assert_eq!(served.output.answer, "ok", "{file}");
        let host = if retried { "deepseek" } else { "fireworks" };
        assert_eq!(served.meta.provider, host, "{file}");
        assert_eq!(classes(&both), [Some(expected), None], "{file}");
        assert_eq!(both.clock.waits().is_empty(), !retried, "{file}");

        let alone = world();
        alone.push([first]);
        let error = run(&alone, route(&DEEPSEEK_A, None, Policy::BLANK), streams).unwrap_err();
        assert_eq!(error.class().unwrap().name(), expected, "{file}");
        let reason = match file.split('.').next().unwrap() {
            "raw_text_429" => "model-x is throttled at its host; come back soon.",
            "msg_json_429" => "The quota is used up for now. (resource_exhausted)",
            "raw_filter" | "msg_python_filter" => "The prompt was filtered. (content_filter)",
            "raw_key" | "status200_key" => "The key is no good. (invalid_api_key)",
            _ => "No money is left on the account. (insufficient_quota)",
        };
        let message = &error.failure().unwrap().message;
        assert!(message.ends_with(reason), "{file}: {message}");
    }
}

/// Bodies as gateways really send them (reworded), the status, and the class.
fn neighbours() -> Vec<(u16, Value, FailureClass)> {
    use FailureClass::{CapacityShed, ConfigAuth, Network, Refusal};
    let quota = json!({ "error": { "message": "no money", "code": "insufficient_quota" } });
    vec![
        // OpenRouter, raw as an object and two gateways deep (reVrost/go-openrouter#21).
        (
            502,
            json!({ "error": { "message": "Provider returned error", "code": 502, "metadata": { "raw": quota } } }),
            ConfigAuth,
        ),
        (
            429,
            json!({ "error": { "message": "up", "code": 429, "metadata": { "raw":
                json!({ "error": { "message": "litellm.RateLimitError: OpenAIException - {'error': {'code': 'insufficient_quota', 'param': None}}" } }).to_string(),
            } } }),
            ConfigAuth,
        ),
        // LiteLLM prints the bytes that it got (Aider-AI/aider#1263) and a class of Azure's (BerriAI/litellm#16231).
        (
            500,
            json!({ "error": { "message": r#"litellm.APIError: VertexAIException - b'{\n  "error": {\n    "code": 429,\n    "message": "Resource has been exhausted.",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\n' Received Model Group=x"#, "code": "500" } }),
            CapacityShed,
        ),
        (
            400,
            json!({ "error": { "message": "litellm.BadRequestError: AzureException", "code": "400", "provider_specific_fields": { "innererror": { "code": "ResponsibleAIPolicyViolation" } } } }),
            Refusal,
        ),
        // What the Python client of OpenAI prints (stanford-crfm/helm#3327), passed on by FastAPI.
        (
            500,
            json!({ "detail": "OpenAI error: Error code: 401 - {'error': {'message': \"You didn't say who you are.\", 'code': None}}" }),
            ConfigAuth,
        ),
        // A batch of Vertex (googleapis/python-genai#509) and a new-api relay (WEIFENG2333/VideoCaptioner#1120).
        (
            500,
            json!({ "message": "Internal error. Failed: {\"error\": {\"code\": 503, \"message\": \"busy\", \"status\": \"UNAVAILABLE\"}}" }),
            CapacityShed,
        ),
        (
            500,
            json!({ "error": { "message": "{\"error\":{\"error\":{\"type\":\"authentication_error\"}}}", "type": "upstream_error", "code": "bad_response_status_code" } }),
            ConfigAuth,
        ),
        // Azure API Management has its own shape around the error of the backend.
        (
            403,
            json!({ "statusCode": 403, "message": "{\"error\":{\"code\":\"content_filter\",\"message\":\"m\"}}" }),
            Refusal,
        ),
        // A gateway of Cloudflare that got no answer says 400 (cloudflare/ai#436).
        (
            400,
            json!({ "success": false, "result": [], "messages": [], "error": [{ "code": 2005, "message": "Failed to get response from provider" }] }),
            Network,
        ),
        // A list of errors as other APIs of Cloudflare have it.
        (
            400,
            json!({ "success": false, "errors": [{ "code": 10000, "message": "{\"error\":{\"code\":\"invalid_api_key\"}}" }] }),
            ConfigAuth,
        ),
        // Nothing is known of the inner error: the outer status decides.
        (
            429,
            json!({ "error": { "message": "x: {\"error\":{\"message\":\"odd\",\"type\":\"invalid_request_error\"}}" } }),
            CapacityShed,
        ),
        (
            502,
            json!({ "error": { "message": "x: {\"note\": \"insufficient_quota\"}" } }),
            Network,
        ),
    ]
}

// K7: at other depths and in other shapes, whole and as the error of a stream.
#[test]
fn gateways_of_other_shapes_are_read_through_as_well() {
    for (status, body, class) in neighbours() {
        let body = body.to_string();
        let streamed = format!("data: {body}\n\ndata: [DONE]\n\n");
        let replies = [
            (Scripted::status(status, body.clone()), false),
            (Scripted::status(200, streamed), true),
        ];
        for (reply, streams) in replies {
            // Without its status nothing tells of a rate limit.
            if streams && body.contains("odd") {
                continue;
            }
            let world = world();
            world.push([reply]);
            let error = run(&world, route(&DEEPSEEK_A, None, Policy::BLANK), streams).unwrap_err();
            assert_eq!(error.class(), Some(class), "{streams} {body}");
        }
    }
}

// K7: waiting a day is no retry, whoever counts; a limit per minute is one.
#[test]
fn a_quota_of_a_day_or_a_month_is_not_waited_for() {
    use FailureClass::{CapacityShed, ConfigAuth};
    let google = |ids: &[&str], delay: Option<&str>| {
        let violations: Vec<_> = ids.iter().map(|id| json!({ "quotaId": id })).collect();
        let mut details = vec![json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": violations,
        })];
        details.extend(delay.map(|delay| json!({ "retryDelay": delay })));
        json!({ "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "status": "RESOURCE_EXHAUSTED",
            "details": details,
        } })
    };
    let said = |text: &str| json!({ "error": { "message": text, "code": 429 } });
    let daily = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let limited = |limit: &str| {
        json!({ "error": { "code": 429, "message": "Quota exceeded.", "details": [
            { "reason": "RATE_LIMIT_EXCEEDED", "metadata": { "quota_limit": limit } },
        ] } })
    };
    let cases = [
        // google-gemini/gemini-cli#8437
        (google(&[daily], None), ConfigAuth),
        (google(&[minute, daily], Some("41s")), ConfigAuth),
        (google(&[minute], Some("20s")), CapacityShed),
        (google(&[], None), CapacityShed),
        (
            limited("GenerateContentRequestsPerDayPerProject"),
            ConfigAuth,
        ),
        (
            limited("GenerateContentRequestsPerMinutePerProject"),
            CapacityShed,
        ),
        // Groq (continuedev/continue#10920), OpenRouter (Gitlawb/openclaude#936), and others in their own words.
        (
            said(
                "Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.",
            ),
            ConfigAuth,
        ),
        (
            said("Rate limit reached on requests per minute (RPM): Limit 30, Used 30."),
            CapacityShed,
        ),
        (
            said(
                "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day",
            ),
            ConfigAuth,
        ),
        (
            said("Rate limit exceeded: free-models-per-min."),
            CapacityShed,
        ),
        (
            said("You have exceeded your monthly included credits."),
            ConfigAuth,
        ),
        (
            said("You have used up your daily free allocation of 10,000 neurons"),
            ConfigAuth,
        ),
        (
            said("Too many tokens per day, please wait before trying again."),
            ConfigAuth,
        ),
        (
            said("Quota exceeded for generate_content_requests_per_minute_per_project"),
            CapacityShed,
        ),
        (said("Rate limit reached. Have a nice day."), CapacityShed),
        // Within a gateway's error (continuedev/continue#10062).
        (said(&google(&[daily], None).to_string()), ConfigAuth),
        (
            json!({ "error": { "code": 429, "message": "Rate limit exceeded", "metadata": { "limit_source": "openrouter_free_tier_daily" } } }),
            ConfigAuth,
        ),
    ];
    for (body, class) in cases {
        let world = world();
        world.push([Scripted::status(429, body.to_string()), ok()]);
        let served = run(&world, route(&BOTH, None, retries(PATIENT)), false).unwrap();
        assert_eq!(classes(&world), [Some(class.name()), None], "{body}");
        let is_waited_for = class == CapacityShed;
        assert_eq!(world.clock.waits().is_empty(), !is_waited_for, "{body}");
        let host = if is_waited_for {
            "deepseek"
        } else {
            "fireworks"
        };
        assert_eq!(served.meta.provider, host, "{body}");
    }
}

// K4: what both vendors' clients retry is retried.
#[test]
fn a_conflict_and_a_request_that_came_too_early_are_retried() {
    for status in [408, 409, 421, 425] {
        let world = world();
        let body = json!({ "error": { "message": "not now" } }).to_string();
        world.push([Scripted::status(status, body), ok()]);
        let served = run(&world, route(&DEEPSEEK_A, None, retries(PATIENT)), false);
        assert_eq!(served.unwrap().output.answer, "ok", "{status}");
        assert_eq!(classes(&world), [Some("network"), None], "{status}");
    }
}
