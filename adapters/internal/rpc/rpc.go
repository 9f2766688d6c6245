// Package rpc has what the adapters of Connect and gRPC share: the procedures of the program's generated code, and the
// details of errors.
package rpc

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/latchkey-go/latchkey/core/access"
)

// Methods returns the names of the methods of a service in the program's generated code. It returns nil if the program
// does not contain the service. It is for [access.New].
func Methods(service string) []string {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	described, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok {
		return nil
	}
	names := []string{}
	for i := range described.Methods().Len() {
		names = append(names, string(described.Methods().Get(i).Name()))
	}
	return names
}

// Domain is the field domain of google.rpc.ErrorInfo in error details. Reasons are unique within a domain.
const Domain = "latchkey"

// Details returns the details of an error: google.rpc.ErrorInfo with the reason in upper case and the challenge,
// google.protobuf.Struct with the problem document (RFC 9457), and google.rpc.RetryInfo if the client should wait.
func Details(e *access.Error) []proto.Message {
	info := &errdetails.ErrorInfo{Reason: strings.ToUpper(e.Reason), Domain: Domain}
	if e.Challenge != "" {
		info.Metadata = map[string]string{"challenge": e.Challenge}
	}
	details := []proto.Message{info}
	if document, err := structpb.NewStruct(e.Problem); err == nil {
		details = append(details, document)
	}
	if e.RetryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	return details
}
