package rpc_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkey-go/latchkey/adapters/internal/rpc"
	"github.com/latchkey-go/latchkey/core/access"
)

// TestMethods finds the methods of a registered service.
func TestMethods(t *testing.T) {
	text := new(".google.protobuf.StringValue")
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("rpc_test.proto"), Package: new("rpctest"), Syntax: new("proto3"),
		Dependency: []string{wrapperspb.File_google_protobuf_wrappers_proto.Path()},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name: new("Ping"), Method: []*descriptorpb.MethodDescriptorProto{
				{Name: new("One"), InputType: text, OutputType: text}, {Name: new("Two"), InputType: text, OutputType: text},
			},
		}, {Name: new("Empty")}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	if err := protoregistry.GlobalFiles.RegisterFile(file); err != nil {
		t.Fatal(err)
	}
	if got := rpc.Methods("rpctest.Ping"); !slices.Equal(got, []string{"One", "Two"}) {
		t.Errorf("the methods are %q", got)
	}
	if got := rpc.Methods("rpctest.Empty"); got == nil || len(got) != 0 {
		t.Errorf("the methods of a service without any are %q", got)
	}
	for _, name := range []string{"rpctest.Pong", "rpctest", "", "google.protobuf.StringValue"} {
		if got := rpc.Methods(name); got != nil {
			t.Errorf("%q has the methods %q", name, got)
		}
	}
}

// TestDetails encodes a step-up and a limit.
func TestDetails(t *testing.T) {
	all := rpc.Details(&access.Error{
		Reason: "reauth_required", Challenge: `Bearer max_age="300"`, RetryAfter: time.Minute,
		Problem: map[string]any{"maxAge": 300.0, "acrValues": []any{"gold"}},
	})
	info, document, retry := all[0].(*errdetails.ErrorInfo), all[1].(*structpb.Struct), all[2].(*errdetails.RetryInfo)
	if info.Reason != "REAUTH_REQUIRED" || info.Domain != rpc.Domain || info.Metadata["challenge"] == "" {
		t.Errorf("the reason is %v", info)
	}
	if document.Fields["maxAge"].GetNumberValue() != 300 || len(document.Fields["acrValues"].GetListValue().Values) != 1 {
		t.Errorf("the document is %v", document)
	}
	if retry.RetryDelay.AsDuration() != time.Minute {
		t.Errorf("the delay is %v", retry)
	}
	if rest := rpc.Details(&access.Error{Reason: "forbidden", Problem: map[string]any{}}); len(rest) != 2 {
		t.Errorf("the details without a delay are %v", rest)
	}
}
